"""Pages as PDF, printed by Chromium without a window."""

import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (  # no sandbox: containers do not support it, and the page is our own
    "--headless --no-sandbox --disable-gpu --disable-background-networking --no-pdf-header-footer "
    "--generate-pdf-document-outline"
).split()


def find_browser() -> str | None:
    """The path of a Chromium that the shell finds (on PATH), or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def print_pdf(page: Path, target: Path, query: str = "") -> str:
    """Print a page to PDF with Chromium.

    page: an absolute path. target: in a folder that exists. query: what follows the page's address,
    such as "?print-pdf".

    Returns "" or why there is no PDF, as text for the user; `target` is then left as it was.
    """
    browser = find_browser()
    if browser is None:
        return f"Chromium was not found on PATH, so no PDF was made. {page.name} itself can be printed."
    with tempfile.TemporaryDirectory(dir=target.parent, ignore_cleanup_errors=True) as folder:
        printed = Path(folder, target.name)
        command = [
            browser,
            *FLAGS,
            "--host-resolver-rules=MAP * ~NOTFOUND",  # no network
            f"--user-data-dir={folder}",
            f"--print-to-pdf={printed}",
            page.as_uri() + query,
        ]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            # seconds: the whole book takes about half a minute
            subprocess.run(command, capture_output=True, timeout=300, check=False)
        if printed.exists() and printed.read_bytes().startswith(b"%PDF"):
            printed.replace(target)
            return ""
    return (
        f"{browser} could not print {target.name}, so no PDF was made. {page.name} itself can be "
        "printed."
    )
