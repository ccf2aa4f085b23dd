"""bertviz's own calls, drawn offline: the same views everywhere, nothing asked for elsewhere."""

import base64
import inspect
import json
import linecache
import re
import sys

import bertviz
import pytest
import torch
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter

from course_utils import plots
from course_utils._support.bertviz_offline import LARGE, stand_in
from notebooks.conftest import nearly_equal

from .browser import content_of_view, in_chromium, wait_until_it_fits
from .test_attention import random_attentions

AWKWARD = [
    "[CLS]", "</script>", "<b>", "##ing", '"', "'", "&amp;", "\\", "$$", "$x^$", "🙂", "<!--",
    "é", "PYTHON_PARAMS", "const params = 1;", "https://cdnjs.cloudflare.com/x.js",
    "bertviz-" + "0" * 32, "Ġword", "</iframe>", "[SEP]",
]  # fmt: skip


def head_view(attention, tokens, **options):
    """The library's call as lessons make it, but for the view itself in place of its display."""
    return bertviz.head_view(list(attention[:, None]), tokens, html_action="return", **options)


def model_view(attention, tokens, **options):
    return bertviz.model_view(list(attention[:, None]), tokens, html_action="return", **options)


# a test's `view`; the library's function has the same name
VIEWS = pytest.mark.parametrize("view", [head_view, model_view])


@pytest.fixture(autouse=True)
def style():
    plots.use_style()
    stand_in()


def document(view):
    """The page inside a view's frame."""
    return BeautifulSoup(view._repr_html_(), "html.parser").iframe["srcdoc"]


def data(view):
    """The data passed to bertviz inside the frame."""
    _, _, after = document(view).partition("const params = ")
    params, _ = json.JSONDecoder().raw_decode(after)  # the JSON ends before its line does
    return params


def stored_size(view):
    """The size in bytes of a cell's output as stored in a notebook file."""
    bundle, metadata = DisplayFormatter().format(view)
    if isinstance(bundle["image/png"], bytes):
        bundle["image/png"] = base64.b64encode(bundle["image/png"]).decode()
    return len(json.dumps({"data": bundle, "metadata": metadata}, ensure_ascii=False).encode())


@VIEWS
def test_a_view_holds_the_weights_with_three_decimals(view):
    attentions = random_attentions(2, 3, 5)
    made = view(attentions, list("abcde"))
    params = data(made)
    torch.testing.assert_close(
        torch.tensor(params["attention"][0]["attn"]), attentions, rtol=0, atol=5.01e-4
    )
    assert (
        params["attention"][0]["left_text"] == params["attention"][0]["right_text"] == list("abcde")
    )
    numbers = re.search(r'"attn":([\d.,\[\]]+)', document(made))[1]
    assert all(re.fullmatch(r"\d\.\d{3}", number) for number in re.findall(r"[\d.]+", numbers))


@VIEWS
def test_a_models_own_tuple_is_taken_and_nothing_is_changed(view):
    attentions, tokens = random_attentions(2, 3, 4), list("abcd")
    kept = attentions.clone()
    html = view(attentions, tokens)._repr_html_()
    library_view = getattr(bertviz, view.__name__)
    # a model gives a tuple; in training, tensors with gradients
    with_gradients = [layer[None].requires_grad_() for layer in attentions.clone()]
    for arguments in ((tuple(attentions[:, None]), tuple(tokens)), (with_gradients, tokens)):
        assert library_view(*arguments, html_action="return")._repr_html_() == html
    assert torch.equal(attentions, kept), "the caller's tensor"
    assert tokens == list("abcd"), "the caller's list"


@pytest.mark.parametrize(
    "view, chosen, shown",
    [
        (head_view, {}, {"layer": 0, "heads": [0, 1, 2, 3], "include_layers": [0, 1, 2]}),
        (
            head_view,
            {"layer": torch.tensor(2), "heads": torch.tensor([1, 3])},
            {"layer": 2, "heads": [1, 3]},
        ),
        (head_view, {"include_layers": [1, 2]}, {"layer": 1, "include_layers": [1, 2]}),
        (
            model_view,
            {"include_layers": [2], "include_heads": [1, 3]},
            {"include_layers": [2], "include_heads": [1, 3], "total_heads": 4},
        ),
    ],
)
def test_what_is_shown_at_first(view, chosen, shown):
    attentions = random_attentions(3, 4, 4)
    params = data(view(attentions, list("abcd"), **chosen))
    assert shown.items() <= params.items()
    layers, heads = params["include_layers"], params.get("include_heads", range(4))
    weights = torch.tensor(params["attention"][0]["attn"])
    torch.testing.assert_close(weights, attentions[layers][:, heads], rtol=0, atol=5.01e-4)


@VIEWS
def test_another_processor_changes_last_decimals_only(view):
    attentions = random_attentions(2, 6, 12)
    uniform = torch.rand(attentions.shape, generator=torch.Generator().manual_seed(1))
    # up to 0.000012 more or less, so a third decimal may change by one
    disturbed = (attentions + (uniform - 0.5) * 2.4e-5).clamp(0, 1)
    ours, theirs = view(attentions, AWKWARD[:12]), view(disturbed, AWKWARD[:12])
    assert ours._repr_html_() != theirs._repr_html_()
    assert nearly_equal(ours._repr_html_(), theirs._repr_html_())
    assert nearly_equal(repr(ours), repr(theirs))


@VIEWS
def test_ids_come_from_the_content(view):
    attentions = random_attentions(2, 3, 4)
    settings = [{}, {"include_layers": [1]}, {"sentence_b_start": 2}]
    views = [view(attentions, list("abcd"), **chosen) for chosen in settings]
    views += [view(attentions, list("abce")), view(attentions[:1], list("abcd"))]
    ids = [data(made)["root_div_id"] for made in views]
    assert len(set(ids)) == len(ids)
    pages = "".join(map(document, views))
    assert re.findall('<div id="(bertviz-[0-9a-f]{12})"', pages) == ids


@VIEWS
def test_nothing_is_asked_for_elsewhere(view):
    """The browser tests check this too; this test shows where the problem is."""
    page = document(view(random_attentions(2, 3, 4), list("abcd")))
    tags = BeautifulSoup(page, "html.parser")
    assert not tags(["link", "img", "base", "object"]) + tags(src=True) + tags(href=True)
    policy = tags.find(attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none';")
    assert not re.search("http|[*]|self|data:", policy)
    assert not re.search(r"cdn|require\.|@import", page)
    # but for the names of formats, and addresses in comments
    assert not re.search(r"https?://(?!www\.w3\.org/|d3js\.org|github\.com/tensorflow/)", page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    # no script is cut short by text that looks like its end tag
    assert [len(script) > 50_000 for script in scripts] == [True, True, False]
    assert "<!--" not in page


@VIEWS
def test_the_stored_size_is_bounded(view):
    # a pair of sentences, which bertviz stores twice: whole, and in parts
    pair, limit = random_attentions(6, 12, 12), LARGE[view.__name__]
    assert stored_size(view(pair, ["token"] * 12, sentence_b_start=7)) < 550_000
    assert stored_size(view(random_attentions(6, 12, limit), ["a"] * limit)) < 1_300_000


@VIEWS
def test_a_large_view_warns(view):
    too_many = LARGE[view.__name__] + 1
    with pytest.warns(UserWarning, match=f"^{too_many} tokens make a large view") as caught:
        view(random_attentions(1, 1, too_many), ["a"] * too_many)
    warned_of = linecache.getline(caught[0].filename, caught[0].lineno)
    assert f"bertviz.{view.__name__}(" in warned_of, "not the line that calls the library"


RANDOM = list(random_attentions(2, 3, 4)[:, None])


@VIEWS
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"include_layers": [2]}, ValueError, r"choose one layer or more from 0 to 1; got \[2\]"),
        (
            {"tokens": list("abc")},
            ValueError,
            r"3 tokens need attention \(1, heads, 3, 3\) of each layer; got \(1, 3, 4, 4\)",
        ),
        ({"attention": [torch.zeros(3, 4, 4)]}, ValueError, r"got \(3, 4, 4\)"),
        ({"attention": [torch.zeros(2, 3, 4, 4)]}, ValueError, r"got \(2, 3, 4, 4\)"),
        ({"attention": torch.zeros(2, 3, 4, 4)}, ValueError, "must be a list with a tensor"),
        ({"attention": (None, None)}, ValueError, "eager"),
        ({"attention": ()}, ValueError, "eager"),
        ({"tokens": [101, 102, 103, 104]}, TypeError, "tokens must be a list of strings"),
        ({"tokens": None}, TypeError, "tokens must be a list of strings"),
    ],
)
def test_arguments_that_do_not_fit_are_named(view, arguments, error, words):
    arguments = {"attention": RANDOM, "tokens": list("abcd"), **arguments}
    with pytest.raises(error, match=words):
        getattr(bertviz, view.__name__)(**arguments)


@pytest.mark.parametrize("heads", [[3], []])
@pytest.mark.parametrize("view, name", [(head_view, "heads"), (model_view, "include_heads")])
def test_heads_that_are_not_there_are_named(view, name, heads):
    words = f"choose one head or more from 0 to 2; got {heads}"
    with pytest.raises(ValueError, match=re.escape(words)):
        getattr(bertviz, view.__name__)(RANDOM, list("abcd"), **{name: heads})


@VIEWS
def test_the_call_has_the_arguments_and_the_help_of_the_librarys(view):
    ours = getattr(bertviz, view.__name__)
    theirs, module = ours.__wrapped__, sys.modules[f"bertviz.{view.__name__}"]
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert ours.__doc__ == theirs.__doc__
    stand_in()  # again, which changes nothing
    assert getattr(bertviz, view.__name__) is ours is getattr(module, view.__name__)


@VIEWS
def test_the_call_displays_and_returns_nothing(view, capsys):
    ours = getattr(bertviz, view.__name__)
    assert ours(RANDOM, list("abcd")) is None
    assert "View object" not in capsys.readouterr().out
    assert "<iframe" in ours(RANDOM, list("abcd"), html_action="return").data


@VIEWS
def test_awkward_tokens_arrive_as_they_are(view, recwarn):
    made = view(random_attentions(2, 3, len(AWKWARD)), AWKWARD, sentence_b_start=5)
    parts = data(made)["attention"]
    # bertviz writes Ġ as a space
    assert [token.replace("Ġ", " ") for token in AWKWARD] == parts[0]["left_text"]
    names = [f"Sentence {start} -> Sentence {end}" for start, end in ("AA", "BB", "AB", "BA")]
    assert [part["name"] for part in parts[1:]] == names
    (line,) = [line for line in document(made).splitlines() if "const params = " in line]
    assert "<" not in line
    assert line.isascii()
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]


def sanitised(view):
    """(cells of the table, other text) of what is left of a page without frames, scripts and
    styles.
    """
    page = BeautifulSoup(view._repr_html_(), "html.parser")
    for element in page(["iframe", "script", "style"]):
        element.decompose()
    cells = [[cell.extract().text for cell in row(["td", "th"])] for row in page("tr")]
    return cells, page.text


def test_without_frames_a_table_is_left():
    attentions = random_attentions(2, 3, len(AWKWARD))
    cells, text = sanitised(head_view(attentions, AWKWARD, layer=1, heads=[0, 2]))
    assert text == (
        "Head view of layer 1 (counted from 0), mean of heads 0, 2: how much each of 20 tokens "
        "(rows) looks at each (columns). (Where scripts run, bertviz's view covers this table.)"
    )
    assert cells[0] == ["", *AWKWARD]
    assert [row[0] for row in cells[1:]] == AWKWARD
    mean = attentions[1, [0, 2]].mean(0)
    assert [row[1:] for row in cells[1:]] == [
        [f"{weight:.2f}" for weight in row] for row in mean.tolist()
    ]
    cells, _ = sanitised(model_view(attentions, AWKWARD))
    assert [len(row) for row in cells] == [4, 4, 4]
    # printed with two decimals
    assert float(cells[2][3]) == pytest.approx(attentions[1, 2].max().item(), abs=0.0051)


@VIEWS
def test_text_and_png_stand_in_where_html_cannot_be_shown(view):
    attentions = random_attentions(2, 3, 4)
    made = view(attentions, list("abcd"))
    png, metadata = made._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert 2_000 < len(png) < 40_000
    first, *rest = repr(made).splitlines()
    assert first == f"Figure. {metadata['alt']}"
    assert 30 < len(metadata["alt"]) < 200
    # a head view says its heads' mean, a model view each head's largest weight
    if view is head_view:
        shown = zip("abcd", attentions[0].mean(0).tolist())
    else:
        shown = enumerate(attentions.amax((-1, -2)).tolist())
    assert rest == [
        f"row {row}: " + " ".join(f"{weight:.3f}" for weight in weights) for row, weights in shown
    ]
    bundle, _ = DisplayFormatter().format(made)
    assert set(bundle) == {"text/html", "image/png", "text/plain"}


# ---------------------------------------------------------------- alone on a page
# (in JupyterLab: test_browser.py)


@pytest.fixture(scope="module")
def shown(open_page):
    """A function that puts a view alone on a dark page and returns the page and the content of the
    view's frame.
    """
    page = open_page()

    def show(view):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.set_content(
            f"<!DOCTYPE html><body style='background:#111;color:#ddd'>{view._repr_html_()}</body>"
        )
        return page, content_of_view(page)

    return show


@in_chromium
def test_awkward_tokens_are_shown_and_not_obeyed(shown):
    tokens = [*AWKWARD, "<img src=x onerror=alert(1)>", "'></iframe><script>alert(1)</script>"]
    page, frame = shown(head_view(random_attentions(1, 2, len(tokens)), tokens))
    texts = frame.eval_on_selector_all("#left text", "texts => texts.map(text => text.textContent)")
    assert texts == [token.replace("Ġ", " ") for token in tokens]
    wait_until_it_fits(frame)
    assert page.problems == page.outside == []
    assert page.locator("script, img").count() == 0
    page.evaluate("document.querySelector('iframe').remove()")
    assert page.locator("tr th:first-child").all_text_contents()[1:] == tokens


@in_chromium
@pytest.mark.parametrize(
    ("view", "layers", "heads", "n"),
    [
        (head_view, 6, 12, 2),
        (head_view, 6, 12, 12),
        (head_view, 1, 16, LARGE["head_view"]),
        (model_view, 6, 12, 2),
        (model_view, 6, 12, 12),
        (model_view, 1, 2, 12),
        (model_view, 2, 1, 8),
        (model_view, 12, 16, 4),
        (model_view, 2, 4, LARGE["model_view"]),
    ],
)
def test_the_frame_shows_the_whole_view(shown, view, layers, heads, n):
    tokens = ["representation"] * n
    page, frame = shown(view(random_attentions(layers, heads, n), tokens, sentence_b_start=1))
    wait_until_it_fits(frame)
    page.set_viewport_size({"width": 700, "height": 900})
    wait_until_it_fits(frame, narrower_than=701)
