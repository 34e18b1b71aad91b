"""An API that names its authorization server (RFC 9728), for servers that have none of their own."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Api:
    """Where it is, and the tokens that it was shown. `issuer` may change, and `accepts` says which tokens it takes from then on."""

    def __init__(self, issuer: str, scopes: list[str]) -> None:
        self.tokens: list[str] = []
        self.issuer = issuer
        self.accepts: Callable[[str], bool] = lambda token: True
        api = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/.well-known/oauth-protected-resource"):
                    return self._send(200, {"resource": api.address, "authorization_servers": [api.issuer], "scopes_supported": scopes})
                field = self.headers.get("Authorization", "")
                if not field.startswith("Bearer ") or not api.accepts(field.removeprefix("Bearer ")):
                    where = f'Bearer resource_metadata="{api.origin}/.well-known/oauth-protected-resource/api"'
                    return self._send(401, {}, where)
                api.tokens.append(field.removeprefix("Bearer "))
                return self._send(200, {"ok": True})

            def _send(self, status: int, body: dict[str, Any], challenge: str | None = None) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                if challenge:
                    self.send_header("WWW-Authenticate", challenge)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.address = self.origin + "/api"


@contextmanager
def api(issuer: str, *scopes: str) -> Iterator[Api]:
    served = Api(issuer, list(scopes))
    thread = threading.Thread(target=served.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.server.shutdown()
        served.server.server_close()
