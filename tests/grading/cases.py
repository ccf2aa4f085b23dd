"""Reads cases from the Markdown files of a folder. README.md shows what they look like."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode


@dataclass
class Case:
    """What is below a heading: a paragraph, code cells and a list of settings.

    cells: sources by their roles, "" for those above the answers. settings: values by their keys.
    """

    name: str
    description: str = ""
    cells: dict[str, list[str]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


# A text in which {NAME} and {U+2028} are replaced by what they stand for.
def _filled(text: str, constants: dict[str, str]) -> str:
    for name, value in constants.items():
        text = text.replace(f"{{{name}}}", value)
    return re.sub(r"\{U\+([0-9A-F]{4,6})\}", lambda code: chr(int(code[1], 16)), text)


# Refuse cases that say too little, or something that is not allowed.
def _check(cases: list[Case], built: Collection[str], roles: set[str], keys: set[str]) -> None:
    for case in cases:
        assert case.description, f"no description: {case}"
        assert case.cells.keys() <= roles, f"a cell has an unknown role: {case}"
        assert case.settings.keys() <= keys, f"an unknown setting: {case}"
        assert bool(case.cells) != (case.name in built), (
            f"a case has either cells, or a program that builds it: {case}"
        )
    names = [case.name for case in cases]
    assert len({*names}) == len(names), "two cases have the same name"
    assert {*built} <= {*names}, "a case without cells is not described"


# ("key", value) of a line "- key: value", without the backticks around all of a value.
def _setting(line: str) -> tuple[str, str]:
    key, _, value = line.removeprefix("- ").partition(": ")
    return key, value[1:-1] if re.fullmatch("`[^`]+`", value) else value


def read(
    folder: Path,
    built: Collection[str],
    roles: Collection[str],
    keys: Collection[str],
    **constants: str,
) -> list[Case]:
    """The cases of a folder, file by file. Raises AssertionError as `_check` says.

    built: names of the cases without cells, which a program builds. roles: of cells, beside "" and
    "below". keys: of settings. constants: what {NAME} stands for in a cell or a setting; {U+2028}
    stands for that character.
    """
    cases: list[Case] = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        # the first two are the title and the introduction
        for node in SyntaxTreeNode(MarkdownIt("commonmark").parse(text)).children[2:]:
            if node.type == "heading":
                cases.append(Case(node.children[0].content.replace("`", "")))
                continue
            case = cases[-1]
            if node.type == "paragraph":
                case.description = node.children[0].content.replace("\n", " ")
            elif node.type == "fence":
                role = node.info.removeprefix("python").strip()
                source = _filled(node.content.removesuffix("\n"), constants)
                case.cells.setdefault(role, []).append(source)
            else:
                for item in node.children:  # of a list
                    # the item's first line as it is written: the parser takes backticks away
                    key, value = _setting(lines[item.map[0]])
                    case.settings[key] = _filled(value, constants)
    _check(cases, built, {"", "below", *roles}, {*keys})
    return cases
