"""Firefox and WebKitGTK, the engine of Safari, for the tests that open pages in them: a page with
the part of Playwright's interface that these tests use.

Playwright drives only builds of its own of these two. Here WebDriver's commands go to what Debian
has: over HTTP to WebKitWebDriver, and by Firefox's own socket, Marionette, which needs no further
program. Neither browser can reach another machine: its proxy is a port where nobody listens.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from .offline import free_port, open_when_ready

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
WEBKIT, SCREEN = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
MINI_BROWSER = next(Path("/usr").glob("lib*/**/webkit2gtk-4.*/MiniBrowser"), None)
NOBODY = 9  # a port of this machine where nothing listens
PATIENCE = 300  # seconds: the machine may be busy, and WebKit then takes half a minute for a slide
FIREFOX_SETTINGS = {
    "network.proxy.type": 1,  # by hand; the addresses of this machine are asked directly
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": NOBODY,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": NOBODY,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "app.update.enabled": False,
    "accessibility.tabfocus": 7,  # Tab reaches everything, as on Windows and Linux
}
KEYS = {  # WebDriver's characters for keys without one
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Space": " ", "End": "\ue010",
    "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
}  # fmt: skip
# {WebDriver's name of a command: Marionette's}
COMMANDS = {
    "timeouts": "SetTimeouts",
    "url": "Navigate",
    "execute/sync": "ExecuteScript",
    "window/rect": "SetWindowRect",
    "actions": "PerformActions",
}
# an expression, or a function, which is called with the argument
CALLED = "const value = ({text}); return typeof value === 'function' ? value(arguments[0]) : value;"
WAITED = (
    "const holds = argument => {{ const value = ({text}); "
    "return typeof value === 'function' ? value(argument) : value; }};"
    "return (async argument => {{ while (!(await holds(argument))) "
    "await new Promise(later => setTimeout(later, 50)); }})(arguments[0]);"
)


class Page:
    """A page of a browser that `send`, a function, gives commands: (WebDriver's name, **parameters).

    Its methods are those of Playwright's page, with fewer arguments.
    """

    def __init__(self, send):
        self.send = send
        self.keyboard = SimpleNamespace(press=self._press)
        # milliseconds; a script also waits for what it returns
        send("timeouts", script=1000 * PATIENCE, pageLoad=1000 * PATIENCE)

    def goto(self, address):
        self.send("url", url=address)

    def evaluate(self, text, arg=None):
        return self.send("execute/sync", script=CALLED.format(text=text), args=[arg])

    def wait_for_function(self, text, arg=None):
        self.send("execute/sync", script=WAITED.format(text=text), args=[arg])

    def wait_for_selector(self, selector):
        self.wait_for_function(f"document.querySelector({json.dumps(selector)})")

    def set_viewport_size(self, size):
        """Make the page this large: the window, by what its bars take, larger.

        Returns when the page has this size. A window is at least 500 pixels wide in Firefox.
        """
        beside, above = self.evaluate("[outerWidth - innerWidth, outerHeight - innerHeight]")
        width, height = size["width"], size["height"]
        self.send("window/rect", width=width + beside, height=height + above)
        self.wait_for_function(
            "([width, height]) => innerWidth === width && innerHeight === height", [width, height]
        )

    def _press(self, key):
        value = KEYS.get(key, key)
        strokes = [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")]
        self.send("actions", actions=[{"type": "key", "id": "keyboard", "actions": strokes}])


@contextlib.contextmanager
def firefox():
    """A page of Firefox, with a clean profile and no window to be seen."""
    port = free_port()
    settings = {**FIREFOX_SETTINGS, "marionette.port": port}
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in settings.items()
    ]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        (Path(profile) / "user.js").write_text("".join(lines), encoding="utf-8")
        # by the third flag, older versions of Firefox have nothing to allow
        flags = ["--headless", "--marionette", "--remote-allow-system-access", "--no-remote"]
        with running(FIREFOX, *flags, "--profile", profile), connected(port) as connection:
            send = marionette(connection)
            send("WebDriver:NewSession")
            page = Page(lambda name, **values: send(f"WebDriver:{COMMANDS[name]}", **values))
            page.problems = lambda: problems_of_firefox(send)
            yield page


@contextlib.contextmanager
def running(*command, **changes):
    """A program, which is stopped at the end; changes: of its environment."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env={**os.environ, **changes}, **quiet) as program:
        try:
            yield program
        finally:
            program.terminate()


def connected(port):
    """A connection to a server on this machine, which may still be starting."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 2 * PATIENCE)
        except OSError:
            assert time.monotonic() < until, "Firefox does not answer"
            time.sleep(0.2)


def marionette(connection):
    """A function that sends Firefox a command, and returns its result.

    Each message is the number of its bytes, a colon and JSON: [0, id, command, parameters], and
    back [1, id, error, result].
    """
    stream = connection.makefile("rb")

    def read():
        length = b""
        while not length.endswith(b":"):
            length += stream.read(1)
        return json.loads(stream.read(int(length[:-1])))

    def send(name, **parameters):
        message = json.dumps([0, 1, name, parameters]).encode()
        connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = read()
        assert not error, f"{name}: {error}"
        return result.get("value") if isinstance(result, dict) else result

    read()  # the greeting
    return send


def problems_of_firefox(send):
    """The errors of the pages' scripts since the last call, from Firefox's own console."""
    script = (
        "const errors = Services.console.getMessageArray().filter(message => "
        "message instanceof Ci.nsIScriptError && message.category === 'content javascript' "
        "&& !(message.flags & Ci.nsIScriptError.warningFlag)); Services.console.reset(); "
        "return errors.map(error => error.toString());"
    )
    send("Marionette:SetContext", value="chrome")
    try:
        return send("WebDriver:ExecuteScript", script=script, args=[])
    finally:
        send("Marionette:SetContext", value="content")


@contextlib.contextmanager
def webkit():
    """A page of WebKitGTK, in the window of its small browser on a screen that nobody sees."""
    with screen() as display, contextlib.ExitStack() as drivers:
        for _ in range(3):  # once in a while the browser never answers its driver
            port = free_port()
            driver = drivers.enter_context(running(WEBKIT, f"--port={port}", DISPLAY=display))
            open_when_ready(f"http://127.0.0.1:{port}/status").close()
            with contextlib.suppress(TimeoutError):
                send = webdriver(port)
                break
            driver.terminate()
        else:
            pytest.fail("WebKitGTK did not start in three tries of a minute each.")
        page = Page(send)
        page.problems = list  # WebKit does not tell the errors of scripts
        yield page


def webdriver(port):
    """Open a window through WebKitWebDriver. Returns a function that sends it commands.

    Raises TimeoutError if there is no window after a minute.
    """
    nowhere = f"127.0.0.1:{NOBODY}"
    proxy = {"proxyType": "manual", "httpProxy": nowhere, "sslProxy": nowhere}
    capabilities = {
        "webkitgtk:browserOptions": {"binary": str(MINI_BROWSER), "args": ["--automation"]},
        "proxy": {**proxy, "noProxy": ["127.0.0.1"]},
    }

    def post(path, parameters, seconds):
        address = f"http://127.0.0.1:{port}/session{path}"
        request = urllib.request.Request(address, data=json.dumps(parameters).encode())
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            pytest.fail(f"{path}: {error.read().decode()}")

    opened = post("", {"capabilities": {"alwaysMatch": capabilities}}, seconds=60)
    return lambda name, **values: post(f"/{opened['sessionId']}/{name}", values, 2 * PATIENCE)


@contextlib.contextmanager
def screen():
    """The name of a screen that nobody sees."""
    command = [SCREEN, "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "1800x1300x24"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        try:
            yield f":{program.stdout.readline().strip()}"  # written when it is ready
        finally:
            program.terminate()


BROWSERS = {
    "firefox": (firefox, [FIREFOX], "no Firefox here: apt-get install firefox-esr"),
    "webkit": (
        webkit,
        [WEBKIT, SCREEN, MINI_BROWSER],
        "no WebKitGTK with its driver and a screen here: apt-get install webkit2gtk-driver xvfb",
    ),
}


def in_other_browsers(test):
    """A nightly test, once in each of the two: its argument `browser` yields a page.

    Skipped where there is none.
    """
    each = [
        pytest.param(page, id=name, marks=pytest.mark.skipif(not all(programs), reason=reason))
        for name, (page, programs, reason) in BROWSERS.items()
    ]
    return pytest.mark.nightly(pytest.mark.parametrize("browser", each)(test))
