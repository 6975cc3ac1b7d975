"""A hub on this machine: it answers what ``huggingface_hub`` asks about a file of a repository."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Answer:
    """What is answered for one path.

    Attributes:
        body: What is sent for GET.
        status: The status.
        headers: Headers, beside the length; of a file also its commit and its ETag.
        length: The length that is stated, where it is not that of the body.
        stalls: Where nothing more comes: before the ``headers`` or after the ``body``.
        hangs_up: Whether the connection ends after the body, however much was stated.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    stalls: str = ""
    hangs_up: bool = False


def file(body: bytes, *, commit: str | None = COMMIT, **more: Any) -> Answer:
    """Return the answer for a file that is there."""
    headers = {"ETag": '"etag"', **({} if commit is None else {"X-Repo-Commit": commit})}
    return Answer(body, headers=headers, **more)


def refusal(status: int, code: str | None = None) -> Answer:
    """Return the answer for something that the hub does not give."""
    return Answer(b"", status, {} if code is None else {"X-Error-Code": code})


def moved(location: str, **headers: str) -> Answer:
    """Return the answer that names another place."""
    return Answer(b"", 307, {"Location": location, **headers})


class Hub(ThreadingHTTPServer):
    """Answers for some paths; everything else is a repository that there is not.

    Attributes:
        answers: The answers by path.
        asked: What was asked for: method, path, and the token that came with it.
        token: Without which nothing is given, or None.
    """

    daemon_threads = False  # so that it ends only after all of its answers

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, str, str | None]] = []
        self.token: str | None = None
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"

    def publish(self, repo_id: str, answer: Answer, revision: str = "main") -> None:
        """Let a revision of a repository, and the commit that it is at, have an answer."""
        for one in (revision, COMMIT):
            self.answers[f"/{repo_id}/resolve/{one}/config.json"] = answer


@contextlib.contextmanager
def running() -> Iterator[Hub]:
    """Run a hub for as long as the context lasts."""
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            hub.ended.set()
            hub.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _answer(self, *, with_body: bool) -> None:
        hub = self.server
        token = self.headers.get("Authorization")
        if not self.path.startswith("/api/"):  # what the library asks for itself
            hub.asked.append((self.command, self.path, token))
        answer = hub.answers.get(self.path, refusal(404, "RepoNotFound"))
        if hub.token is not None and token != f"Bearer {hub.token}":
            answer = refusal(401)
        if answer.stalls == "headers":
            hub.ended.wait()
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        length = len(answer.body) if answer.length is None else answer.length
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if with_body:
            self.wfile.write(answer.body)
            self.wfile.flush()
            if answer.stalls == "body":
                hub.ended.wait()
        if answer.hangs_up:
            self.close_connection = True
