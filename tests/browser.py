"""Helpers of the browser tests: JupyterLab as `make lab` starts it, and a Chromium restricted to this machine.

Playwright's times are in milliseconds. Needs Debian's Chromium (`apt-get install chromium`). Set
COURSE_SCREENSHOTS to a folder to keep screenshots; screenshots.py makes the pictures of the READMEs
from them.
"""

import contextlib
import http.server
import os
import shutil
import subprocess
import threading
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlparse

import pytest

from .grader import COURSE
from .offline import free_port, open_when_ready

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# axe-core, a script that finds barriers for people with disabilities in the page that runs it
AXE_ITSELF = Path(find_spec("axe_playwright_python").origin).parent / "axe.min.js"
# as root, in a container, Chromium starts only without its sandbox; most of the others keep it from
# calling home
FLAGS = [
    *"--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync".split(),
    # holds WebSockets back, too, which do not pass through the routes of a page
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

CHROMIUM_IS_MISSING = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: apt-get install chromium"
)


def in_chromium(test):
    """A test in a real browser: nightly, so that `make test` needs no Chromium and has time for the
    lessons.

    Skipped where there is no Chromium.
    """
    return pytest.mark.nightly(CHROMIUM_IS_MISSING(test))


@contextlib.contextmanager
def running_lab(workspace):
    """Start `course lab` on a workspace, and yield its address, without the token "secret", and its process's id.

    The settings and kernels in the home folder of whoever runs the tests are hidden from it.
    """
    address = f"http://127.0.0.1:{free_port()}"
    command = [*COURSE, "lab", "--workspace", str(workspace), "--no-browser"]
    # no retries: on another port it would not be found
    flags = ["--ServerApp.port_retries=0", "--IdentityProvider.token=secret"]
    folders = {
        f"JUPYTER_{kind}_DIR": str(workspace.parent / kind.lower()) for kind in ("CONFIG", "DATA")
    }
    with subprocess.Popen(
        [*command, f"--port={urlparse(address).port}", *flags],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **folders},
    ) as server:
        try:
            open_when_ready(f"{address}/api/status?token=secret").close()
            yield address, server.pid
        finally:
            server.terminate()


@contextlib.contextmanager
def chromium():
    """A function that opens a page with a clean profile, so that nothing is remembered from other pages.

    Only 127.0.0.1 and files can be reached. `page.outside` lists the blocked requests: (address, frame's
    address). `page.problems` lists the errors that the page's scripts did not catch.
    keeps_policy: the page's Content Security Policy holds, so that `wait_for_function` may fail.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

        def open_page(width=1280, height=900, keeps_policy=False):
            # wait_for_function evaluates a text, which the policy of the book's pages forbids
            page = browser.new_page(
                viewport={"width": width, "height": height}, bypass_csp=not keeps_policy
            )
            page.set_default_timeout(120_000)  # the machine may be busy
            # ours, on Playwright's page
            page.outside, page.problems = [], []
            page.on("pageerror", lambda error: page.problems.append(str(error)))

            def guard(route):
                if urlparse(route.request.url).hostname in ("127.0.0.1", None):  # None: of a file
                    return route.continue_()
                page.outside.append((route.request.url, route.request.frame.url))
                return route.abort()

            page.route("**/*", guard)
            return page

        yield open_page
        browser.close()


@contextlib.contextmanager
def served(folder, headers=None, types=None):
    """Serve a folder on this machine, and yield the address, without a slash at its end.

    headers: of each answer, {name: value}. types: of files, {a name's ending: content type}.
    """

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, **(types or {})}

        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def end_headers(self):
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            super().end_headers()

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def run_all_cells(page):
    """Run All in the open notebook, and wait until the last cell has run and the kernel is idle."""
    from playwright.sync_api import TimeoutError as StillWaiting

    # before that, JupyterLab drops requests to run cells
    page.wait_for_selector("text='Python 3 (ipykernel) | Idle'")
    for _ in range(3):  # on a busy machine it drops one even then
        page.click("text=Run >> nth=0")
        page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
        with contextlib.suppress(StillWaiting):
            page.wait_for_function(in_page("hasStarted"), timeout=20_000)
            break
    page.wait_for_function(in_page("hasRunTheLastCell"), timeout=180_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    # JupyterLab renders a cell only when it scrolls into view
    for cell in page.locator(".jp-CodeCell").all():
        cell.scroll_into_view_if_needed()


def keep(page, name):
    """Keep a screenshot if COURSE_SCREENSHOTS names a folder."""
    if folder := os.environ.get("COURSE_SCREENSHOTS"):
        page.wait_for_timeout(500)  # elements may be fading in
        page.screenshot(path=Path(folder) / f"{name}.png")


def in_page(name):
    """A function of page_checks.mjs, as the text that `page.evaluate` and the like take.

    It has at most one argument. A name that the file lacks fails only in the page.
    """
    # what is evaluated is no module, so it may not export
    checks = (
        Path(__file__)
        .with_name("page_checks.mjs")
        .read_text(encoding="utf-8")
        .replace("export ", "")
    )
    return f"argument => {{ {checks}\nreturn {name}(argument); }}"


def bring_into_view(page, element):
    """Scroll until the element stays in view: JupyterLab moves cells while it renders them.

    For pages of `open_page` with its default height. Fails the test after 20 attempts, six seconds.
    """
    in_lab = page.locator("#jp-main-statusbar").count() > 0
    top, bottom = (90, 870) if in_lab else (0, 900)  # JupyterLab's bars take the others
    for _ in range(20):
        element.evaluate("element => element.scrollIntoView({block: 'center'})")
        page.wait_for_timeout(300)
        box = element.bounding_box()
        if box and top <= box["y"] and box["y"] + box["height"] <= bottom:
            return
    pytest.fail(f"not in view: {box}")


# ---------------------------------------------------------------- attention views


def content_of_view(page, title="", min_lines=1):
    """The content of the frame of the first view whose title starts like this, a Playwright frame.

    Waits until the view has drawn at least `min_lines` lines.
    """
    frame = (
        page.locator(f"iframe[title^='{title}']" if title else "iframe")
        .element_handle()
        .content_frame()
    )
    frame.wait_for_function(in_page("hasDrawn"), arg=min_lines)
    return frame


def wait_until_it_fits(frame, narrower_than=10_000):
    """Wait until the frame is narrower than so many pixels, and the view fits into it.

    By default the frame may have any width.
    """
    frame.wait_for_function(in_page("viewFits"), arg=narrower_than)
