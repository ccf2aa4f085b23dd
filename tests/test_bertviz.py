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


# The library's functions as learners call them after setup(): from here on, they draw offline.
stand_in()
HEAD_VIEW, MODEL_VIEW = bertviz.head_view, bertviz.model_view
each_function = pytest.mark.parametrize("function", [HEAD_VIEW, MODEL_VIEW])
FOUR_TOKENS = list("abcd")
# as a model returns it: 2 layers, each (1, 3 heads, 4, 4)
FOR_FOUR_TOKENS = list(random_attentions(2, 3, 4)[:, None])


def drawn(function, attention, tokens, **options):
    """The view that one of the library's functions displays. attention: (layers, heads, n, n)."""
    return function(list(attention[:, None]), tokens, html_action="return", **options)


@pytest.fixture(autouse=True)
def style():
    plots.use_style()


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
    bundle["image/png"] = base64.b64encode(bundle["image/png"]).decode()
    return len(json.dumps({"data": bundle, "metadata": metadata}, ensure_ascii=False).encode())


@each_function
def test_a_view_holds_the_weights_with_three_decimals(function):
    attentions = random_attentions(2, 3, 5)
    view = drawn(function, attentions, list("abcde"))
    params = data(view)
    # half of the third decimal, and a little for the arithmetic
    torch.testing.assert_close(
        torch.tensor(params["attention"][0]["attn"]), attentions, rtol=0, atol=5.01e-4
    )
    assert (
        params["attention"][0]["left_text"] == params["attention"][0]["right_text"] == list("abcde")
    )
    numbers = re.search(r'"attn":([\d.,\[\]]+)', document(view))[1]
    assert all(re.fullmatch(r"\d\.\d{3}", number) for number in re.findall(r"[\d.]+", numbers))


@each_function
def test_a_models_own_tuple_is_taken_and_nothing_is_changed(function):
    attentions, tokens = random_attentions(2, 3, 4), list("abcd")
    kept = attentions.clone()
    html = drawn(function, attentions, tokens)._repr_html_()
    # a model gives a tuple; in training, tensors with gradients
    with_gradients = [layer[None].requires_grad_() for layer in attentions.clone()]
    for arguments in ((tuple(attentions[:, None]), tuple(tokens)), (with_gradients, tokens)):
        assert function(*arguments, html_action="return")._repr_html_() == html
    assert torch.equal(attentions, kept), "the caller's tensor"
    assert tokens == list("abcd"), "the caller's list"


@pytest.mark.parametrize(
    "function, chosen, shown",
    [
        (HEAD_VIEW, {}, {"layer": 0, "heads": [0, 1, 2, 3], "include_layers": [0, 1, 2]}),
        (
            HEAD_VIEW,
            {"layer": torch.tensor(2), "heads": torch.tensor([1, 3])},
            {"layer": 2, "heads": [1, 3]},
        ),
        (HEAD_VIEW, {"include_layers": [1, 2]}, {"layer": 1, "include_layers": [1, 2]}),
        (
            MODEL_VIEW,
            {"include_layers": [2], "include_heads": [1, 3]},
            {"include_layers": [2], "include_heads": [1, 3], "total_heads": 4},
        ),
    ],
)
def test_a_view_begins_with_the_layers_and_heads_that_are_chosen(function, chosen, shown):
    attentions = random_attentions(3, 4, 4)
    params = data(drawn(function, attentions, FOUR_TOKENS, **chosen))
    assert shown.items() <= params.items()
    layers, heads = params["include_layers"], params.get("include_heads", range(4))
    weights = torch.tensor(params["attention"][0]["attn"])
    # half of the third decimal, and a little for the arithmetic
    torch.testing.assert_close(weights, attentions[layers][:, heads], rtol=0, atol=5.01e-4)


@each_function
def test_another_processor_changes_last_decimals_only(function):
    attentions = random_attentions(2, 6, 12)
    uniform = torch.rand(attentions.shape, generator=torch.Generator().manual_seed(1))
    # up to 0.000012 more or less, so a third decimal may change by one
    disturbed = (attentions + (uniform - 0.5) * 2.4e-5).clamp(0, 1)
    ours = drawn(function, attentions, AWKWARD[:12])
    theirs = drawn(function, disturbed, AWKWARD[:12])
    assert ours._repr_html_() != theirs._repr_html_()
    assert nearly_equal(ours._repr_html_(), theirs._repr_html_())
    assert nearly_equal(repr(ours), repr(theirs))


@each_function
def test_ids_come_from_the_content(function):
    attentions = random_attentions(2, 3, 4)
    settings = [{}, {"include_layers": [1]}, {"sentence_b_start": 2}]
    views = [drawn(function, attentions, FOUR_TOKENS, **chosen) for chosen in settings]
    views += [
        drawn(function, attentions, list("abce")),
        drawn(function, attentions[:1], FOUR_TOKENS),
    ]
    ids = [data(view)["root_div_id"] for view in views]
    assert len(set(ids)) == len(ids)
    assert re.findall('<div id="(bertviz-[0-9a-f]{12})"', "".join(map(document, views))) == ids


@each_function
def test_nothing_is_asked_for_elsewhere(function):
    """The browser tests check this too; this test shows where the problem is."""
    page = document(drawn(function, random_attentions(2, 3, 4), FOUR_TOKENS))
    tags = BeautifulSoup(page, "html.parser")
    assert not tags(["link", "img", "base", "object"]) + tags(src=True) + tags(href=True)
    policy = tags.find(attrs={"http-equiv": "Content-Security-Policy"})["content"]
    assert policy.startswith("default-src 'none';")
    assert not re.search("http|[*]|self|data:", policy)
    assert not re.search(r"cdn|require\.|@import", page)
    # but for the names of formats, and addresses in comments
    assert not re.search(r"https?://(?!www\.w3\.org/|d3js\.org|github\.com/tensorflow/)", page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    # the two libraries and the view: no script is cut short by text that looks like its end tag
    assert [len(script) > 50_000 for script in scripts] == [True, True, False]
    assert "<!--" not in page


@each_function
def test_the_stored_size_is_bounded(function):
    # a pair of sentences, which bertviz stores twice: whole, and in parts
    pair, limit = random_attentions(6, 12, 12), LARGE[function.__name__]
    # bytes: a lesson's views, and the largest without a warning, keep a notebook within a few MB
    assert stored_size(drawn(function, pair, ["token"] * 12, sentence_b_start=7)) < 550_000
    assert stored_size(drawn(function, random_attentions(6, 12, limit), ["a"] * limit)) < 1_300_000


@each_function
def test_a_large_view_warns(function):
    too_many = LARGE[function.__name__] + 1
    with pytest.warns(UserWarning, match=f"^{too_many} tokens make a large view") as caught:
        drawn(function, random_attentions(1, 1, too_many), ["a"] * too_many)
    warned_of = linecache.getline(caught[0].filename, caught[0].lineno)
    assert "return function(list(attention[:, None])" in warned_of, "not the caller's line"


@each_function
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
def test_arguments_that_do_not_fit_are_named(function, arguments, error, words):
    arguments = {"attention": FOR_FOUR_TOKENS, "tokens": FOUR_TOKENS, **arguments}
    with pytest.raises(error, match=words):
        function(**arguments)


@pytest.mark.parametrize("heads", [[3], []])  # there are 0 to 2; and none
@pytest.mark.parametrize("function, name", [(HEAD_VIEW, "heads"), (MODEL_VIEW, "include_heads")])
def test_heads_that_are_not_there_are_named(function, name, heads):
    with pytest.raises(
        ValueError, match=f"choose one head or more from 0 to 2; got {re.escape(str(heads))}"
    ):
        function(FOR_FOUR_TOKENS, FOUR_TOKENS, **{name: heads})


@each_function
def test_the_call_has_the_arguments_and_the_help_of_the_librarys(function):
    of_the_library = function.__wrapped__
    assert inspect.signature(function) == inspect.signature(of_the_library)
    assert function.__doc__ == of_the_library.__doc__


@each_function
def test_a_second_stand_in_changes_nothing(function):
    stand_in()
    assert getattr(bertviz, function.__name__) is function
    assert getattr(sys.modules[f"bertviz.{function.__name__}"], function.__name__) is function


@each_function
def test_the_call_displays_and_returns_nothing(function, capsys):
    assert function(FOR_FOUR_TOKENS, FOUR_TOKENS) is None
    view = function(FOR_FOUR_TOKENS, FOUR_TOKENS, html_action="return")
    assert "<iframe" in view.data
    # where no notebook takes it, a view is displayed as its text; the second call displays nothing
    assert capsys.readouterr().out == f"{view!r}\n"


@each_function
def test_awkward_tokens_arrive_as_they_are(function, recwarn):
    view = drawn(function, random_attentions(2, 3, len(AWKWARD)), AWKWARD, sentence_b_start=5)
    parts = data(view)["attention"]
    # bertviz writes Ġ as a space
    assert [token.replace("Ġ", " ") for token in AWKWARD] == parts[0]["left_text"]
    names = [f"Sentence {start} -> Sentence {end}" for start, end in ("AA", "BB", "AB", "BA")]
    assert [part["name"] for part in parts[1:]] == names
    (line,) = [line for line in document(view).splitlines() if "const params = " in line]
    assert "<" not in line
    assert line.isascii()
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]


def sanitised(view):
    """What a view shows where frames, scripts and styles are removed.

    ([the texts of each row of its table], the text outside the table).
    """
    page = BeautifulSoup(view._repr_html_(), "html.parser")
    for element in page(["iframe", "script", "style"]):
        element.decompose()
    cells = [[cell.extract().text for cell in row(["td", "th"])] for row in page("tr")]
    return cells, page.text


def test_without_frames_a_table_is_left():
    attentions = random_attentions(2, 3, len(AWKWARD))
    cells, text = sanitised(drawn(HEAD_VIEW, attentions, AWKWARD, layer=1, heads=[0, 2]))
    assert text == (
        "Head view of layer 1 (counted from 0), mean of heads 0, 2: how much each of 20 tokens "
        "(rows) looks at each (columns). (Where scripts run, bertviz's view covers this table.)"
    )
    assert cells[0] == ["", *AWKWARD]
    assert [row[0] for row in cells[1:]] == AWKWARD
    assert [row[1:] for row in cells[1:]] == [
        [f"{weight:.2f}" for weight in row] for row in attentions[1, [0, 2]].mean(0).tolist()
    ]
    cells, _ = sanitised(drawn(MODEL_VIEW, attentions, AWKWARD))
    assert [len(row) for row in cells] == [4, 4, 4]
    # printed with two decimals
    assert float(cells[2][3]) == pytest.approx(attentions[1, 2].max().item(), abs=0.0051)


@each_function
def test_text_and_png_stand_in_where_html_cannot_be_shown(function):
    attentions = random_attentions(2, 3, 4)
    view = drawn(function, attentions, FOUR_TOKENS)
    png, metadata = view._repr_png_()
    assert png.startswith(b"\x89PNG")
    assert 2_000 < len(png) < 40_000  # bytes: not empty, and small in a notebook
    first, *rest = repr(view).splitlines()
    assert first == f"Figure. {metadata['alt']}"
    assert 30 < len(metadata["alt"]) < 200
    # a head view says its heads' mean, a model view each head's largest weight
    if function is HEAD_VIEW:
        shown = zip("abcd", attentions[0].mean(0).tolist())
    else:
        shown = enumerate(attentions.amax((-1, -2)).tolist())
    assert rest == [
        f"row {row}: " + " ".join(f"{weight:.3f}" for weight in weights) for row, weights in shown
    ]
    bundle, _ = DisplayFormatter().format(view)
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
    page, frame = shown(drawn(HEAD_VIEW, random_attentions(1, 2, len(tokens)), tokens))
    texts = frame.eval_on_selector_all("#left text", "texts => texts.map(text => text.textContent)")
    assert texts == [token.replace("Ġ", " ") for token in tokens]
    wait_until_it_fits(frame)
    assert page.problems == page.outside == []
    assert page.locator("script, img").count() == 0
    page.evaluate("document.querySelector('iframe').remove()")
    assert page.locator("tr th:first-child").all_text_contents()[1:] == tokens


@in_chromium
@pytest.mark.parametrize(
    ("function", "layers", "heads", "n"),
    [  # of each: the narrowest, the encoder's, others in shape, the largest without a warning
        (HEAD_VIEW, 6, 12, 2),
        (HEAD_VIEW, 6, 12, 12),
        (HEAD_VIEW, 1, 16, LARGE["head_view"]),
        (MODEL_VIEW, 6, 12, 2),
        (MODEL_VIEW, 6, 12, 12),
        (MODEL_VIEW, 1, 2, 12),
        (MODEL_VIEW, 2, 1, 8),
        (MODEL_VIEW, 12, 16, 4),
        (MODEL_VIEW, 2, 4, LARGE["model_view"]),
    ],
)
def test_the_frame_shows_the_whole_view(shown, function, layers, heads, n):
    attentions = random_attentions(layers, heads, n)
    page, frame = shown(drawn(function, attentions, ["representation"] * n, sentence_b_start=1))
    wait_until_it_fits(frame)
    page.set_viewport_size({"width": 700, "height": 900})
    wait_until_it_fits(frame, narrower_than=701)  # once the frame has the page's new width
