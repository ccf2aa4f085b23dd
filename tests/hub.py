"""A model hub on loopback: the part of the real hub's HTTP interface that downloads use, and its
failures.

Modelled on what huggingface_hub 2.4 requests: the model's record, the list of its files, its
discussions, and each file by HEAD and GET. Large files (safetensors) are served from another
origin, as on the real hub, so the redirect is real.
"""

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

OUTAGE = b'{"error": "Internal Error"}'
LOGIN = b"<html>please log in to this network</html>"  # as a hotel's network answers everything
# (pattern of a whole path, the method of _Handler that is called with the pattern's groups)
ROUTES = (
    # a large file at its other origin: /storage/tiny/model/COMMIT/FILE
    (r"/storage/([^/]+/[^/]+)/([^/]+)/(.+)", "send_file"),
    # a file: /tiny/model/resolve/main/FILE
    (r"(?:/datasets)?/([^/]+/[^/]+)/resolve/([0-9a-f]{40}|main)/(.+)", "resolve"),
    # a record: /api/models/tiny/model, and below it /revision/main, /tree/main or /discussions
    (
        r"/api/(?:models|datasets)/([^/]+/[^/]+?)(?:/(revision|tree|discussions)(?:/(.+))?)?",
        "describe",
    ),
)


class Hub:
    """`with Hub({"tiny/model": folder}) as hub:` serves the folder's files at `hub.endpoint`.

    models: from a name to a folder, or to a dictionary from revisions ("main", "refs/pr/1") to
    folders. gated: names whose files cannot be fetched. discussions: from a name to entries of its
    discussion list, such as those of `pull_request`.
    status: None, or the status of every response. api_status: the same for all but the front page.
    cut: from a file name to the number of bytes after which every response breaks off.
    After it is made, `requests` has (method, path) of each request, in the order of arrival.
    """

    def __init__(self, models, gated=(), discussions=None, status=None, api_status=None, cut=None):
        self.models = {
            name: source if isinstance(source, dict) else {"main": source}
            for name, source in models.items()
        }
        self.gated, self.discussions = gated, discussions or {}
        self.status, self.api_status, self.cut = status, api_status, cut or {}
        self.requests = []

    def __enter__(self):
        self.server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": self})
        )
        self.server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        # the same server under another host name, which counts as another origin
        self.storage = f"http://localhost:{self.server.server_port}/storage"
        # poll_interval: seconds that `shutdown` may have to wait
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def find(self, name, revision):
        """(commit, folder) of a revision given as a branch or as its commit, or (None, None)."""
        for branch, folder in self.models.get(name, {}).items():
            # 40 hex digits, as real ones have
            commit = hashlib.sha1(f"{name} {branch}".encode()).hexdigest()
            if revision in (branch, commit):
                return commit, folder
        return None, None


def pull_request(number, title, author="SFconvertbot", status="open"):
    """An entry of a discussion list.

    By default, one of the real hub's bot that offers weights converted to safetensors.
    """
    return {
        "num": number,
        "title": title,
        "author": {"name": author},
        "status": status,
        "isPullRequest": True,
        "createdAt": "2024-01-01T00:00:00.000Z",
        "repo": {"name": "", "type": "model"},
    }


# Answers one request. `Hub` makes a subclass of its own, whose attribute `hub` is that hub.
class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path))
        if path == "/":
            return self.send(
                self.hub.status or 200, b"<html>a hub</html>", {"Content-Type": "text/html"}
            )
        if status := self.hub.status or self.hub.api_status:
            return self.send(status, OUTAGE if status >= 400 else LOGIN)
        for pattern, method in ROUTES:
            if match := re.fullmatch(pattern, path):
                return getattr(self, method)(*match.groups())
        return self.refuse("RepoNotFound")

    do_HEAD = do_GET  # noqa: N815 (the name that the library calls)

    # a model's discussions or files, as `kind` says; its record without one
    def describe(self, name, kind, revision):
        if name not in self.hub.models:
            return self.refuse("RepoNotFound")
        if kind == "discussions":
            entries = self.hub.discussions.get(name, [])
            return self.send_json({"discussions": entries, "count": len(entries), "start": 0})
        commit, folder = self.hub.find(name, revision or "main")
        if commit is None:
            return self.refuse("RevisionNotFound", 404)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        if kind == "tree":
            return self.send_json(
                [
                    {
                        "type": "file",
                        "size": path.stat().st_size,
                        "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
                        "path": path.relative_to(folder).as_posix(),
                    }
                    for path in files
                ]
            )
        return self.send_json(
            {
                "id": name,
                "sha": commit,
                "siblings": [{"rfilename": path.relative_to(folder).as_posix()} for path in files],
                "private": False,
                "tags": [],
            }
        )

    # a file, or where it is stored if it is large
    def resolve(self, name, revision, filename):
        if name in self.hub.gated:
            return self.refuse("GatedRepo")
        commit, folder = self.hub.find(name, revision)
        if commit is None:
            return self.refuse("RepoNotFound")
        if not (folder / filename).is_file():
            return self.refuse("EntryNotFound", 404)
        if not filename.endswith(".safetensors"):
            return self.send_file(name, commit, filename)
        content = (folder / filename).read_bytes()
        return self.send(
            302,
            b"",
            {
                "Location": f"{self.hub.storage}/{name}/{commit}/{filename}",
                "X-Repo-Commit": commit,
                "X-Linked-Etag": f'"{hashlib.sha256(content).hexdigest()}"',
                "X-Linked-Size": str(len(content)),
            },
        )

    # a file, or the rest of it if the request has a range; breaks off where the hub's `cut` says
    def send_file(self, name, commit, filename):
        _, folder = self.hub.find(name, commit)
        content = (folder / filename).read_bytes()
        headers = {
            "ETag": f'"{hashlib.sha1(content).hexdigest()}"',
            "X-Repo-Commit": commit,
            "Accept-Ranges": "bytes",
        }
        status, start = 200, 0
        if rest := re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", "")):
            status, start = 206, int(rest[1])
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self.send(status, content[start:], headers, cut=self.hub.cut.get(filename))

    def send_json(self, content):
        self.send(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    # code: the real hub's name of the fault, which huggingface_hub turns into an exception. Without
    # a login, the real hub also answers 401 for a model that does not exist.
    def refuse(self, code, status=401):
        self.send(status, b"{}", {"X-Error-Code": code, "X-Error-Message": code})

    # cut: the number of bytes after which the connection breaks off, or None
    def send(self, status, body, headers=None, cut=None):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])
            if cut is not None and cut < len(body):
                self.close_connection = True
