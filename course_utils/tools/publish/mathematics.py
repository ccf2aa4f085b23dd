"""Formulas as MathML, which browsers render without a script."""

import re

from . import PublishError

# Code comes first, since a $ in it is no formula: fenced blocks, and text between as many backticks
# on both sides. Then an escaped \$, $$a block$$, and $an inline formula$ with the punctuation that
# must stay on its line. With a space inside the signs, or a letter or $ beside them, it is none.
CODE_OR_FORMULA = re.compile(
    r"(?P<code>^ *(`{3,}|~{3,}).*?^ *\2`*$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))|\\\$|"
    r"\$\$(?P<block>.+?)\$\$|"
    r"(?<![\w$])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\w$])(?P<sign>[.,;:?!)]*)",
    re.MULTILINE | re.DOTALL,
)
TAG = re.compile(r"\\tag\{([^{}]+)\}")


def with_mathml(markdown: str) -> str:
    r"""Replace each LaTeX formula of a text, `$a$` or `$$a$$`, with MathML.

    Code and other text ("$5") stay unchanged. `\tag{5.1}` in `$$a$$` numbers the formula: it
    becomes the target #eq-5.1, and formulas.css sets the number right. Raises PublishError for an
    unreadable formula.
    """
    return CODE_OR_FORMULA.sub(_drawn, markdown)


def _drawn(match: re.Match[str]) -> str:
    block = match["block"]
    formula = block or match["inline"]
    if formula is None:
        return match[0]
    number = TAG.search(formula) if block else None
    math = _mathml(formula.replace(number[0], "") if number else formula, display=bool(block))
    if match["sign"]:  # it does not begin a line
        math = f'<span style="white-space: nowrap">{math}{match["sign"]}</span>'
    if not block:
        return math
    # a span, because text and lists go on around it
    if not number:
        return f'<span class="formula">{math}</span>'
    label = f'<span class="number">({number[1]})</span>'
    return f'<span class="formula" id="eq-{number[1]}">{math}{label}</span>'


def _mathml(formula: str, display: bool) -> str:
    from math_core import LatexError, LatexToMathML  # not in Colab

    try:
        converter = LatexToMathML(fancy_error=False)
        math = converter.convert_with_local_state(formula.strip(), displaystyle=display)
    except LatexError as error:
        raise PublishError(f"the formula ${formula}$ cannot be read ({error})") from None
    # Markdown reads on inside the tags
    return re.sub(r"[*_`\[\]|~\\$]", lambda sign: f"&#{ord(sign[0])};", math.replace("\n", " "))
