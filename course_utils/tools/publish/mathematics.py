"""Formulas as MathML, which browsers render without a script."""

import re

CODE_OR_FORMULA = re.compile(
    r"(?P<code>^ *(`{3,}|~{3,}).*?^ *\2`*$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))|\\\$|"
    r"\$\$(?P<block>.+?)\$\$|(?<![\w$])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\w$])",
    re.MULTILINE | re.DOTALL,
)


def with_mathml(markdown):
    """Replace each LaTeX formula of a text, `$a$` or `$$a$$`, with MathML. Code and other text ("$5") stay as they are.

    Raises ValueError for an unreadable formula.
    """

    def draw(found):
        formula = found["block"] or found["inline"]
        if formula is None:
            return found[0]
        from latex2mathml.converter import convert

        try:
            return convert(formula.strip(), display="block" if found["block"] else "inline").replace("\n", " ")
        except Exception as error:  # the library raises many types of errors
            raise ValueError(f"the formula ${formula}$ cannot be read ({type(error).__name__})") from None

    return CODE_OR_FORMULA.sub(draw, markdown)
