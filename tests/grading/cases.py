"""Reads cases from the Markdown files of a folder. README.md shows what they look like."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode


@dataclass
class Case:
    """What stands below a heading. cells: sources by their roles, "" for those above the answers. more: the list."""

    name: str
    where: str  # file:line
    what: str = ""
    cells: dict[str, list[str]] = field(default_factory=dict)
    more: dict[str, str] = field(default_factory=dict)


def read(
    folder: Path,
    built: Collection[str],
    roles: Collection[str],
    keys: Collection[str],
    **constants: str,
) -> list[Case]:
    """The cases of a folder, file by file. What is not understood is a ValueError with the file and the line.

    built: names of the cases without cells. roles, keys: those that a case may have, beside "" and "below".
    constants: what {NAME} stands for in a cell; {U+2028} stands for that character.
    """
    cases: dict[str, Case] = {}
    for path in sorted(folder.glob("*.md")):
        for case in _cases_of(path, roles, keys):
            if case.name in cases:
                raise ValueError(f"{case.where}: a second case with the name {case.name}")
            for role, sources in case.cells.items():
                case.cells[role] = [_filled(source, constants) for source in sources]
            case.more = {key: _filled(value, constants) for key, value in case.more.items()}
            cases[case.name] = case
    _check(cases, built, folder)
    return list(cases.values())


def _cases_of(path: Path, roles: Collection[str], keys: Collection[str]) -> list[Case]:
    """The cases of a file. Two may have the same name."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    cases: list[Case] = []
    for node in SyntaxTreeNode(MarkdownIt("commonmark").parse(text)).children:
        where = f"{path}:{node.map[0] + 1}"
        if node.type == "heading" and node.tag == "h3":
            cases.append(Case(node.children[0].content.replace("`", ""), where))
        elif cases:
            try:
                _add(cases[-1], node, lines, roles, keys)
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
        # those are the file's title and introduction
        elif node.type not in ("heading", "paragraph"):
            raise ValueError(f"{where}: a {node.type} that is not expected here")
    return cases


def _add(
    case: Case,
    node: SyntaxTreeNode,
    lines: list[str],
    roles: Collection[str],
    keys: Collection[str],
) -> None:
    """Add a part of the page to a case. First comes the sentence, then the cells, last the list."""
    awaits_more = case.what and not case.more
    if node.type == "paragraph" and not (case.what or case.cells or case.more):
        case.what = node.children[0].content.replace("\n", " ")
    elif node.type == "fence" and awaits_more:
        _add_cell(case, node, lines, roles)
    elif node.type == "bullet_list" and awaits_more:
        for item in node.children:
            _add_entry(case, "\n".join(lines[slice(*item.map)]).strip().removeprefix("- "), keys)
    else:
        raise ValueError(f"a {node.type} that is not expected here")


def _add_cell(case: Case, node: SyntaxTreeNode, lines: list[str], roles: Collection[str]) -> None:
    language, _, role = node.info.partition(" ")
    if "```" in node.content or lines[node.map[1] - 1] != node.markup:
        raise ValueError("a cell without an end")
    if language != "python" or role not in ("", "below", *roles):
        raise ValueError(f"an unknown kind of cell: {node.info}")
    if role in roles and role in case.cells:
        raise ValueError(f"a second cell for {role}")
    case.cells.setdefault(role, []).append(node.content.removesuffix("\n"))


def _add_entry(case: Case, text: str, keys: Collection[str]) -> None:
    key, _, value = text.partition(": ")
    if key not in keys or key in case.more or not value or "\n" in value:
        raise ValueError(f"unknown, repeated, empty or too long: {text}")
    case.more[key] = value[1:-1] if re.fullmatch("`[^`]+`", value) else value


def _filled(text: str, constants: dict[str, str]) -> str:
    """A text with what {NAME} and {U+2028} stand for."""
    for name, value in constants.items():
        text = text.replace(f"{{{name}}}", value)
    return re.sub(r"\{U\+([0-9A-F]{4,6})\}", lambda code: chr(int(code[1], 16)), text)


def _check(cases: dict[str, Case], built: Collection[str], folder: Path) -> None:
    """Raise ValueError unless each case has a sentence, and either has cells or is built in Python."""
    for case in cases.values():
        if not case.what or bool(case.cells) == (case.name in built):
            raise ValueError(
                f"{case.where}: a case needs a sentence, and cells either here or in Python"
            )
    if unused := set(built) - set(cases):
        raise ValueError(f"{folder}: no case has the name {unused}")
