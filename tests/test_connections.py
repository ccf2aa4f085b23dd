"""Why no hub answers: a refused certificate, a proxy, a name, no network. Each has a sentence of its own."""

import contextlib
import shutil
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from huggingface_hub import close_session

from course_utils import load_encoder
from course_utils._support import downloads
from course_utils._support.downloads import EncoderError

from .hub import Hub
from .project import ROOT

HUB = "https://hub.example"  # asked through a proxy, so nobody looks for this name
VARIABLES = "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR".split()


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """No proxy and no certificate is set, and the library's session is a new one, which reads them."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    close_session()
    yield
    close_session()


class Server(BaseHTTPRequestHandler):
    """A front page; as a proxy, it refuses with `status`."""

    status = 200

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(self.status)
        self.end_headers()

    do_CONNECT = do_HEAD  # noqa: N815 (the name that the library calls)


@contextlib.contextmanager
def running(handler=Server, certificate=None):
    """The port of a server on this machine. certificate: a PEM file with its key, for TLS."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server.server_port
        server.shutdown()


def refusal():
    """What a learner reads who asks for a model that is not here: a line without a password."""
    with pytest.raises(EncoderError) as caught:
        load_encoder("tiny/model")
    text = str(caught.value)
    assert "\n" not in text and len(text) < 600 and "secret" not in text, text
    assert text.endswith("use the packaged encoder, or give a local folder.")
    return text


@pytest.fixture
def certificate(tmp_path):
    """A PEM file with a key and a certificate for 127.0.0.1 that nobody else has signed."""
    if not shutil.which("openssl"):
        pytest.skip("no openssl on this machine")
    file = tmp_path / "own.pem"
    names = ["-subj", "/CN=a school's proxy", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
        + ["-keyout", tmp_path / "key.pem", "-out", file],
        check=True,
        capture_output=True,
    )
    file.write_text((tmp_path / "key.pem").read_text() + file.read_text())
    return file


def test_a_refused_certificate_is_named_and_the_advice_helps(
    certificate, point_hub_at, monkeypatch
):
    with running(certificate=certificate) as port:
        point_hub_at(f"https://127.0.0.1:{port}")
        text = refusal()
        assert text.startswith(f"The certificate of 127.0.0.1:{port} was refused (self-signed cert")
        assert "name this file in the variable SSL_CERT_FILE before Python starts." in text
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        close_session()
        assert downloads.hub_failure() is None


@pytest.mark.parametrize(
    "status, reason, advice",
    [
        (407, "407 Proxy Authentication Required", "set HTTPS_PROXY=http://NAME:PASSWORD@"),
        (403, "403 Forbidden", "Ask who runs it to allow hub.example."),
    ],
)
def test_a_proxy_that_refuses_is_named(status, reason, advice, point_hub_at, monkeypatch):
    with running(type("Proxy", (Server,), {"status": status})) as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:secret@127.0.0.1:{port}")
        point_hub_at(HUB)
        text = refusal()
    assert text.startswith(f"The proxy 127.0.0.1:{port} refused the request ({reason}), and")
    assert advice in text


def test_a_proxy_that_asks_for_a_login_before_a_hub_without_tls_is_named(point_hub_at, monkeypatch):
    with running(type("Proxy", (Server,), {"status": 407})) as port:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        point_hub_at("http://hub.example")
        assert f"proxy 127.0.0.1:{port} refused the request (407" in downloads.hub_failure().what


def test_a_proxy_that_is_not_there_is_named(nowhere, point_hub_at, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", nowhere)
    point_hub_at(HUB)
    assert refusal().startswith(f"The proxy {nowhere.removeprefix('http://')} does not accept")


def test_a_store_of_large_files_that_cannot_be_reached_is_named(tiny, nowhere, point_hub_at):
    with Hub({"tiny/model": tiny}) as hub:
        hub.storage = f"{nowhere}/storage"
        point_hub_at(hub.endpoint)
        text = refusal()
    at = nowhere.removeprefix("http://")
    assert text.startswith(f"Nothing accepts connections at {at}, so 'tiny/model' was not fetched.")


# In a network namespace with nothing but loopback: the system itself cannot resolve the name. That
# a name server is only unreachable is said instead where there is a way to others.
WITHOUT_NETWORK = """
from tests.offline import block_network
reason = block_network()
print(reason or "blocked")
from course_utils._support import connections, downloads
print(downloads.hub_failure())
connections.has_route = lambda: True
print(downloads.hub_failure())
"""


def test_a_name_that_is_not_resolved_and_no_network_differ(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")  # nobody's name (RFC 6761)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK], cwd=ROOT, capture_output=True, text=True
    )
    blocked, *lines = done.stdout.splitlines()
    if blocked != "blocked":
        pytest.skip(blocked)
    assert "what='This machine is offline', advice='Connect it to a network.'" in lines[0]
    assert "what='The name hub.invalid could not be resolved (" in lines[1]
    assert "variables HF_ENDPOINT and HTTPS_PROXY" in lines[1]
