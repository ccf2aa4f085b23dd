"""Keep one issue about the weekly checks: `python -m tests.weekly FOLDER`, as the hosted workflow calls it.

RESULTS holds the workflow's `needs` as JSON: {"links": {"result": "failure"}, ...}. FOLDER holds links.log and so on.
If a check failed, the open issue gets a new text, and is opened only if there is none. If all passed, it is closed. If
one was cancelled and none failed, nothing is known, and nothing changes. Needs Python and `gh`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

TITLE = "The weekly checks fail"
LINES, COLUMNS = 40, 300  # of each log; an issue holds 65,536 characters
FENCE = "`" * 8
AGAIN = {
    "newest": "make canary",
    "links": "python3 -m tests.links",
    "instructions": ".venv/bin/python -m tests.matrix",
    "encoders": ".venv/bin/python -m tests.encoders",
}


def end_of(log):
    """The last lines of a log, as they are on a terminal; none can end the block that they stand in."""
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", log.read_text(encoding="utf-8", errors="replace"))
    lines = [line.rpartition("\r")[2][:COLUMNS] for line in text.replace(FENCE, "").splitlines()]
    return "\n".join(lines[-LINES:])


def body(results, folder, run):
    """The text of the issue."""
    rows = "\n".join(f"| {name} | {result} |" for name, result in results.items())
    parts = [
        f"This is what the last run says ({run}). Each week's run replaces this text, and closes the issue once all "
        "checks pass.",
        f"| check | result |\n|---|---|\n{rows}",
    ]
    for name, result in results.items():
        log = Path(folder) / f"{name}.log"
        if result == "failure":
            parts += [f"## {name}", f"To see it: `{AGAIN[name]}`"]
            parts += [f"{FENCE}text\n{end_of(log)}\n{FENCE}" if log.exists() else "It left no log."]
    return "\n\n".join(parts) + "\n"


def gh(*arguments, said=None):
    """Call GitHub's program, with an input, and return what it prints."""
    return subprocess.run(["gh", *arguments], input=said, capture_output=True, text=True, check=True).stdout


def report(results, folder, run):
    """Open, renew or close the issue. Returns what was done, in words."""
    listed = gh(
        "issue", "list", "--app", "github-actions", "--state", "open", "--limit", "200", "--json", "number,title"
    )
    numbers = sorted(str(one["number"]) for one in json.loads(listed) if one["title"] == TITLE)
    if "failure" in results.values():
        text = body(results, folder, run)
        if not numbers:
            return "opened " + gh("issue", "create", "--title", TITLE, "--body-file", "-", said=text).strip()
        gh("issue", "edit", numbers[0], "--body-file", "-", said=text)
        return f"renewed {numbers[0]}"
    if numbers and set(results.values()) == {"success"}:
        for number in numbers:
            gh("issue", "close", number, "--comment", f"All checks pass again ({run}).")
        return f"closed {', '.join(numbers)}"
    return "nothing to do"


def main(folder):
    results = {name: one["result"] for name, one in json.loads(os.environ["RESULTS"]).items()}
    run = "/".join(os.environ[f"GITHUB_{part}"] for part in ("SERVER_URL", "REPOSITORY"))
    print(report(results, folder, f"{run}/actions/runs/{os.environ['GITHUB_RUN_ID']}"))


if __name__ == "__main__":
    main(sys.argv[1])
