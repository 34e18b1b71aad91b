"""`handshake sandbox` as a separate process, and a client whose redirects it can send a browser to."""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from command import Handshake, Running, dict_of
from strangers import http

SERVICES = ("sequencing", "recurse-center", "standard")
AUTHORIZATION_PATHS = {"sequencing": "/oauth2/authorize", "recurse-center": "/oauth/authorize"}
# The RFC 7636 appendix B pair: nothing here exchanges a code, but the servers may demand a challenge.
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@dataclass(frozen=True)
class Service:
    """One stand-in, as the sandbox's first line describes it."""

    name: str
    facts: dict[str, Any]

    @property
    def origin(self) -> str:
        return self.facts["origin"]

    def client(self, kind: str | None = None) -> dict[str, Any]:
        """A client that may be redirected to any loopback port."""
        return next(c for c in self.facts["clients"] if kind in (None, c["kind"])
                    and any(uri.startswith("http://127.0.0.1/") for uri in c["redirect_uris"]))

    def user(self, *, two_factor: bool = False) -> dict[str, Any]:
        return next(u for u in self.facts["users"] if bool(u.get("one_time_code")) == two_factor)

    def authorization_endpoint(self) -> str:
        if self.name in AUTHORIZATION_PATHS:
            return self.origin + AUTHORIZATION_PATHS[self.name]
        metadata = f"{self.origin}/.well-known/oauth-authorization-server"
        return http().get(metadata, timeout=10).json()["authorization_endpoint"]

    def authorization_url(self, redirect_origin: str, **change: str) -> str:
        client = self.client()
        path = next(urlsplit(uri).path for uri in client["redirect_uris"] if uri.startswith("http://127.0.0.1/"))
        query = {"response_type": "code", "client_id": client["id"], "redirect_uri": redirect_origin + path,
                 "state": "the-state", "code_challenge": CHALLENGE, "code_challenge_method": "S256"} | change
        return f"{self.authorization_endpoint()}?{urlencode(query)}"


class Sandbox:
    def __init__(self, command: Handshake) -> None:
        self.running: Running = command.start("sandbox", "--port", "0", "--print-json")
        described = json.loads(self.running.line(60))["services"]
        self.services = {name: Service(name, described[name]) for name in SERVICES}

    def stop(self) -> int:
        """As Ctrl-C would."""
        self.running.process.send_signal(signal.SIGINT)
        try:
            return self.running.process.wait(10)
        except subprocess.TimeoutExpired:
            self.running.end()
            raise


class RedirectCatcher:
    """The client's side of a redirect: remembers what came, answers with a plain page."""

    def __init__(self) -> None:
        catcher = self
        self.caught: list[dict[str, str]] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/favicon"):
                    self.send_error(404)
                    return
                catcher.caught.append(dict_of(urlsplit(self.path).query))
                body = b"<!doctype html><html lang=en><title>Caught</title><h1>Caught</h1>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def catching() -> Iterator[RedirectCatcher]:
    catcher = RedirectCatcher()
    thread = threading.Thread(target=catcher.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield catcher
    finally:
        catcher.server.shutdown()
        catcher.server.server_close()


def artefact(name: str) -> Path:
    """Where a screenshot is kept: out of git, beside the build."""
    from strangers import REPOSITORY

    folder = REPOSITORY / ".build/browser-artefacts"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.png"
