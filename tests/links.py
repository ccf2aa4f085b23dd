"""Ask every address in the documents and in the lessons' text whether it answers.

`python -m tests.links` fails for pages that are gone (404, 410), and for hosts that do not exist, do
not answer or have a damaged certificate. A page that refuses programs, or whose server is ill
today, is listed and does not fail. Needs nothing but Python, and the internet.
"""

import json
import re
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException, InvalidURL

from .canary import ROOT  # `.project` needs packaging

# up to a blank, a quotation mark or a bracket; a pair of round brackets may belong to an address,
# and what goes on with {name} is none
ADDRESS = re.compile(r"https?://\w(?:[^\s<>\"'`\](){}\\|]|\([^\s()]*\))*+(?!\{)")
GONE = (404, 410)  # HTTP statuses
SECONDS = 20  # that a server has for each part of its answer
# this machine, a host given by numbers, an example, a host with a part that is yet to be filled in
NOT_ASKED = re.compile(r"https?://(localhost\b|[\d.]+([:/]|$)|[\w.-]*\bexample\b|[^/]*[$*])")
SKIPPED = {".venv", ".git", "build", "workspace", ".pytest_cache"}


def texts(root):
    """(file, text) of all documents, and of the text cells of all lessons, in a folder.

    The files are relative to it. Those in a folder of SKIPPED are not among them.
    """
    for path in sorted(
        [*root.glob("**/*.md"), *root.glob("**/*.cff"), *root.glob("notebooks/**/*.ipynb")]
    ):
        if SKIPPED & {*path.relative_to(root).parts}:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"]
            text = "\n".join("".join(cell["source"]) for cell in cells)
        yield path.relative_to(root), text


def addresses(root):
    """{address without its anchor: names of the files that have it}, without those of NOT_ASKED."""
    files_with = {}
    for name, text in texts(root):
        for address in ADDRESS.findall(text):
            # behind it may be the end of a sentence, or of bold text in Markdown
            address = address.partition("#")[0].rstrip(".,;:!?*_")
            if not NOT_ASKED.match(address):
                files_with.setdefault(address, set()).add(str(name))
    return files_with


def ask(address):
    """("ok" | "undecided" | "gone", the answer's status or why there was none).

    It asks a second time before it says that an address is gone.
    """
    request = urllib.request.Request(
        address, headers={"User-Agent": "Mozilla/5.0 (a course's check of its links)"}
    )
    for _ in range(2):
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return "ok", str(answer.status)
        except urllib.error.HTTPError as error:
            reason = str(error.code)
            if error.code not in GONE:
                return "undecided", reason
        # no such host, no answer, a damaged certificate, no address
        except (OSError, ValueError, InvalidURL) as error:
            reason = str(getattr(error, "reason", error))
        except HTTPException as error:  # the server's answer is not HTTP
            return "undecided", repr(error)
    return "gone", reason


def main():
    files_with = addresses(ROOT)
    with ThreadPoolExecutor(8) as pool:
        answers = dict(zip(files_with, pool.map(ask, files_with), strict=True))
    for kind in ("undecided", "gone"):
        for address, (state, reason) in answers.items():
            if state == kind:
                print(f"{kind}: {address} ({reason}), in {', '.join(sorted(files_with[address]))}")
    gone = sum(state == "gone" for state, _ in answers.values())
    print(f"{len(answers)} addresses, {gone} gone")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
