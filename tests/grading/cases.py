"""Reads cases from the Markdown files of a folder. README.md shows what they look like."""

import re
from dataclasses import dataclass, field

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


def read(folder, built, roles, keys, **constants):
    """The cases of a folder, file by file. What is not understood is a ValueError with the file and the line.

    built: names of the cases without cells. roles, keys: those that a case may have, beside "" and "below".
    constants: what {NAME} stands for in a cell; {U+2028} stands for that character.
    """

    def filled(text):
        for name, value in constants.items():
            text = text.replace(f"{{{name}}}", value)
        return re.sub(r"\{U\+([0-9A-F]{4,6})\}", lambda found: chr(int(found[1], 16)), text)

    def cell(case, node):
        language, _, role = node.info.partition(" ")
        if "```" in node.content or lines[node.map[1] - 1] != node.markup:
            raise ValueError("a cell without an end")
        if language != "python" or role not in ("", "below", *roles):
            raise ValueError(f"an unknown kind of cell: {node.info}")
        if role in roles and role in case.cells:
            raise ValueError(f"a second cell for {role}")
        case.cells.setdefault(role, []).append(filled(node.content.removesuffix("\n")))

    def entry(case, text):
        key, _, value = text.partition(": ")
        if key not in keys or key in case.more or not value or "\n" in value:
            raise ValueError(f"unknown, repeated, empty or too long: {text}")
        case.more[key] = filled(value[1:-1] if re.fullmatch("`[^`]+`", value) else value)

    cases = {}
    for path in sorted(folder.glob("*.md")):
        text, case = path.read_text(encoding="utf-8"), None
        lines = text.split("\n")
        for node in SyntaxTreeNode(MarkdownIt("commonmark").parse(text)).children:
            where = f"{path}:{node.map[0] + 1}"
            try:
                if node.type == "heading" and node.tag == "h3":
                    name = node.children[0].content.replace("`", "")
                    if name in cases:
                        raise ValueError(f"a second case with the name {name}")
                    case = cases[name] = Case(name, where)
                elif case is None and node.type in ("heading", "paragraph"):  # the file's title and introduction
                    continue
                elif case and node.type == "paragraph" and not (case.what or case.cells or case.more):
                    case.what = node.children[0].content.replace("\n", " ")
                elif case and node.type == "fence" and case.what and not case.more:
                    cell(case, node)
                elif case and node.type == "bullet_list" and case.what and not case.more:
                    for item in node.children:
                        entry(case, "\n".join(lines[slice(*item.map)]).strip().removeprefix("- "))
                else:
                    raise ValueError(f"a {node.type} that is not expected here")
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
    for case in cases.values():
        if not case.what or bool(case.cells) == (case.name in built):
            raise ValueError(f"{case.where}: a case needs a sentence, and cells either here or in Python")
    if unused := set(built) - set(cases):
        raise ValueError(f"{folder}: no case has the name {unused}")
    return list(cases.values())
