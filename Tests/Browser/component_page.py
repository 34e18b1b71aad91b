"""What the pages with our components, and the servers that they come from, have in common."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode


class PageHandler(BaseHTTPRequestHandler):
    policy = ""  # the Content-Security-Policy of everything that is sent

    def send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", self.policy)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # the page had enough

    def log_message(self, *_: Any) -> None:
        pass


def document(content: str, language: str, direction: str, classes: str = "") -> str:
    """The page of an app, with its style sheet and its script."""
    return (f'<!doctype html><html lang="{language or "en"}" dir="{direction or "ltr"}" class="{classes}"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><title>An app</title>'
            '<link rel="stylesheet" href="/page.css"><script type="module" src="/page.js"></script>'
            f"<main><h1>An app</h1>{content}</main></html>")


def page_url(origin: str, attributes: dict[str, Any]) -> str:
    """The address of a page whose component has these attributes."""
    return f"{origin}/page?" + urlencode({name.replace("_", "-"): value for name, value in attributes.items()})


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[None]:
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
