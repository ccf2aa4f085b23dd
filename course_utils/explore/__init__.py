"""Explorers: views that a learner can move. `explore("tokens")` shows one.

Each is one ES module here, with the interface of anywidget: `render({model, el})`. In JupyterLab,
Python computes (`compute.py`); in the book, the page does (`page/`). Where neither can, the picture
of the first state stands there.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from ..diagrams.canvas import Diagram
from .compute import ANSWERS
from .encoder import ExploreError
from .pictures import PICTURES
from .starts import STARTS

HERE = Path(__file__).parent
# a view's import of what `module` puts in front of it
IMPORT = re.compile(r'^import \{[^}]*\} from "\./view\.js";\n', re.MULTILINE)
WIDGET = "application/vnd.jupyter.widget-view+json"


def explore(name: str, **state: Any) -> "Explorer":
    """Show an explorer.

    name: such as "tokens"; `STARTS` has all. state: what it starts with, instead of its own start,
    such as a text.

    Returns an Explorer, which JupyterLab displays. Raises ValueError for an unknown name and for
    what cannot be shown, such as a text of too many tokens; TypeError for a setting that this
    explorer does not have; and what Python does for a value that the view cannot set, such as an
    IndexError for a layer that the model does not have.
    """
    if name not in STARTS:
        raise ValueError(f"There is no explorer {name!r}. There are: {', '.join(STARTS)}")
    return Explorer(name, {**STARTS[name], **state})


class Explorer(Diagram):
    """An explorer in its first state: a diagram, which in JupyterLab is a widget that computes with
    Python.

    name: a key of `STARTS`. state: every setting of that explorer. Raises as `explore` for a state.
    """

    def __init__(self, name: str, state: dict) -> None:
        # a copy of the state, as the page gets it: tuples are lists
        self.name, self.state = name, json.loads(json.dumps(state))
        picture = PICTURES[name](self.state, ANSWERS[name](**self.state))
        super().__init__(picture.svg, picture.alt, picture.texts)

    def _repr_html_(self):
        # page/host.js finds the figure by these attributes, and starts there
        state = html.escape(json.dumps(self.state, ensure_ascii=False))
        data = f'data-explorer="{self.name.replace(" ", "_")}" data-state="{state}"'
        return super()._repr_html_().replace("<figure ", f"<figure {data} ", 1)

    def _repr_mimebundle_(self, include=None, exclude=None):
        widget: Any = Widget(name=self.name, start=self.state, _esm=module(self.name))
        bundle, _ = widget._repr_mimebundle_()
        return {"text/plain": repr(self), "text/html": self._repr_html_(), WIDGET: bundle[WIDGET]}


class Widget(anywidget.AnyWidget):
    """An explorer whose questions Python answers.

    The view sets `state`, and gets `answer`; see the function `answer`.
    """

    _css = HERE / "view.css"
    name = traitlets.Unicode()
    # who computes: by it the view says what to do when no answer comes
    engine = traitlets.Unicode("Python").tag(sync=True)
    start = traitlets.Dict().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    answer = traitlets.Dict().tag(sync=True)

    @traitlets.observe("state")
    def _answer(self, change):
        self.answer = answer(self.name, change["new"])


def module(name: str) -> str:
    """The explorer's ES module with what all views share in it: anywidget loads one text.

    name: a key of `STARTS`.
    """
    # in one text nothing of view.js is exported; the view's own `export default` stays
    shared = (HERE / "view.js").read_text(encoding="utf-8").replace("export ", "")
    own = (HERE / f"{name.replace(' ', '_')}.js").read_text(encoding="utf-8")
    return shared + IMPORT.sub("", own)


def answer(name: str, question: dict) -> dict:
    """What goes back to a view for a question: "asked", the question's id, and either "result",
    as the function in `ANSWERS` returns it, or "problem", a sentence for the learner.

    name: a key of `ANSWERS`. question: a state, and as "asked" the id of the question, by which a
    view tells the answer to its last question from late ones.
    """
    state = {key: value for key, value in question.items() if key != "asked"}
    try:
        result = {"result": ANSWERS[name](**state)}
    except ExploreError as error:
        result = {"problem": str(error)}
    except Exception as error:  # a state that no view sends; the view must not wait for ever
        result = {"problem": f"This cannot be shown ({type(error).__name__}: {str(error)[:120]})."}
    return {"asked": question.get("asked"), **result}
