"""Formulas as MathML, which browsers render without a script."""

import re

CODE_OR_FORMULA = re.compile(
    r"(?P<code>^ *(`{3,}|~{3,}).*?^ *\2`*$|(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))|\\\$|"
    r"\$\$(?P<block>.+?)\$\$|(?<![\w$])\$(?P<inline>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\w$])(?P<sign>[.,;:?!)]*)",
    re.MULTILINE | re.DOTALL,
)


TAG = re.compile(r"\\tag\{([^{}]+)\}")


def with_mathml(markdown):
    r"""Replace each LaTeX formula of a text, `$a$` or `$$a$$`, with MathML. Code and other text ("$5") stay unchanged.

    `\tag{5.1}` in `$$a$$` numbers the formula: it becomes the target #eq-5.1, and formulas.css sets the number right.
    Raises ValueError for an unreadable formula.
    """

    def draw(match):
        formula = match["block"] or match["inline"]
        if formula is None:
            return match[0]
        from math_core import LatexError, LatexToMathML  # an extra

        numbers = TAG.findall(formula)
        if len(numbers) > bool(match["block"]):
            raise ValueError(f"the formula ${formula}$ has a number too many")
        try:
            math = LatexToMathML(fancy_error=False).convert_with_local_state(
                TAG.sub("", formula).strip(), displaystyle=bool(match["block"])
            )
        except LatexError as error:
            raise ValueError(f"the formula ${formula}$ cannot be read ({error})") from None
        # Markdown reads on inside the tags
        math = re.sub(r"[*_`\[\]|~\\$]", lambda sign: f"&#{ord(sign[0])};", math.replace("\n", " "))
        if match["sign"]:  # it does not begin a line
            math = f'<span style="white-space: nowrap">{math}{match["sign"]}</span>'
        if not match["block"]:
            return math
        # a span, because text and lists go on around it
        number = f'<span class="number">({numbers[0]})</span>' if numbers else ""
        name = f' id="eq-{numbers[0]}"' if numbers else ""
        return f'<span class="formula"{name}>{math}{number}</span>'

    return CODE_OR_FORMULA.sub(draw, markdown)
