"""What figures and diagrams share: fonts, and readable colours for the light and the dark mode."""

import numpy as np

Colour = str | tuple[float, float, float]  # as matplotlib takes it
# of text, and of what matters less: each in light and in dark mode
INK, QUIET = ("#1b2733", "#e3e8ec"), ("#53606c", "#a9b5c0")
# CSS selectors of pages in dark mode: the book's, JupyterLab's and VS Code's
DARK = ('html[data-theme="dark"]', 'body[data-jp-theme-light="false"]', "body.vscode-dark")
FONTS = {"sans": "system-ui, sans-serif", "mono": "ui-monospace, Menlo, Consolas, monospace"}
PAPER = "#ffffff", "#15191d"  # behind a drawing, in light and in dark mode
GREY = "#767676"  # lines that guide the eye
GRID = "#dddddd", "#3a444d"  # in light and in dark mode
HEAT = "#4292c6"  # the darkest cell of a heatmap without negative values; black is readable on it


def contrast(first: Colour, second: Colour) -> float:
    """The contrast of two colours as WCAG 2 defines it: from 1 to 21; text needs 4.5."""
    from matplotlib.colors import to_rgb

    rgb = np.array([to_rgb(first), to_rgb(second)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    dark, light = sorted(linear @ (0.2126, 0.7152, 0.0722))
    return (light + 0.05) / (dark + 0.05)


def ink_on(background: Colour) -> str:
    """The colour of text on this background: "black" or "white", whichever contrasts more."""
    return max(("black", "white"), key=lambda ink: contrast(ink, background))


def readable(
    colour: Colour, paper: Colour = PAPER[0], least: float = 4.5
) -> tuple[float, float, float]:
    """The colour, darkened on white paper or lightened on dark paper until text in it can be read.

    least: the contrast with `paper`; 3 is enough for marks. Returns red, green and blue from 0 to
    1: black or white if no shade has this contrast.
    """
    from matplotlib.colors import to_rgb

    end = float(contrast(paper, "white") > contrast(paper, "black"))  # 1, white, on dark paper
    rgb = np.array(to_rgb(colour))
    # in steps of a twentieth, from the colour itself to black or white
    for scale in np.linspace(1, 0, 21):
        red, green, blue = end + scale * (rgb - end)
        if contrast((red, green, blue), paper) >= least:
            return red, green, blue
    return end, end, end
