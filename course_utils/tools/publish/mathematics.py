"""Formulas as MathML, which browsers render without a script."""

import re

from . import PublishError

# Code comes first, since a $ in it is no formula. An inline formula takes along the punctuation
# that must stay on its line; with a space inside the signs, or a letter or $ beside them, it is
# none.
CODE_OR_FORMULA = re.compile(
    r"""
    ^\ *(?P<fence>`{3,}|~{3,}) .*? ^\ *(?P=fence)`*$        # a fenced block
    | (?P<ticks>`+)(?!`) .+? (?<!`)(?P=ticks)(?!`)          # code between as many backticks
    | \\\$                                                  # an escaped dollar
    | \$\$ (?P<block>.+?) \$\$
    | (?<![\w$])\$ (?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?) \$(?![\w$]) (?P<sign>[.,;:?!)]*)
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
# LaTeX's mark for the number of a formula
TAG = re.compile(r"\\tag\{([^{}]+)\}")


def with_mathml(markdown: str) -> str:
    r"""Replace each LaTeX formula of a text, `$a$` or `$$a$$`, with MathML.

    Code, fenced or between backticks, and other text ("$5") stay unchanged. `\tag{5.1}` in `$$a$$`
    numbers the formula: it becomes the target #eq-5.1, and formulas.css sets the number right.
    Raises PublishError for an unreadable formula.
    """
    return CODE_OR_FORMULA.sub(_formula_as_mathml, markdown)


def _formula_as_mathml(match: re.Match[str]) -> str:
    # what takes the place of a match of CODE_OR_FORMULA; code stays as it is
    if match["inline"]:
        math = _mathml(match["inline"], display=False)
        if not match["sign"]:
            return math
        # a punctuation mark does not begin a line
        return f'<span style="white-space: nowrap">{math}{match["sign"]}</span>'
    if not match["block"]:
        return match[0]  # code, or an escaped dollar
    number = TAG.search(match["block"])
    # a span, because text and lists go on around it
    if not number:
        return f'<span class="formula">{_mathml(match["block"], display=True)}</span>'
    math = _mathml(match["block"].replace(number[0], ""), display=True)
    return (
        f'<span class="formula" id="eq-{number[1]}">{math}'
        f'<span class="number">({number[1]})</span></span>'
    )


def _mathml(formula: str, display: bool) -> str:
    from math_core import LatexError, LatexToMathML  # not in Colab

    try:
        # with a local state, nothing of a formula carries over to the next
        math = LatexToMathML(fancy_error=False).convert_with_local_state(
            formula.strip(), displaystyle=display
        )
    except LatexError as error:
        raise PublishError(f"the formula ${formula}$ cannot be read ({error})") from None
    # Markdown is read inside the tags, too, so its signs become character references
    return re.sub(r"[*_`\[\]|~\\$]", lambda sign: f"&#{ord(sign[0])};", math.replace("\n", " "))
