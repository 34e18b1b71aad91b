"""A service by name, as `handshake services show NAME --json` describes it, in a process of the test's own.

It reads the description with code of its own. All hosts of the service are this one origin; the user consents immediately.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

SECRET = "canary secret/+ of the app"


def place(pointer: str, value: Any, root: dict[str, Any]) -> None:
    """Puts a value where a JSON Pointer says; lists are not needed here."""
    *above, last = pointer.strip("/").split("/")
    for name in above:
        root = root.setdefault(name, {})
    root[last] = value


class Twin:
    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts, self.problems, self.issued, self.challenge = facts, [], 0, ""
        twin = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(*twin.answer("GET", self.path, self.headers, b""))

            def do_POST(self) -> None:
                self._answer(*twin.answer("POST", self.path, self.headers, self.rfile.read(int(self.headers["Content-Length"] or 0))))

            def _answer(self, status: int, kind: str, content: bytes) -> None:
                self.send_response(status)
                self.send_header("Location" if status == 302 else "Content-Type", content.decode() if status == 302 else kind)
                self.send_header("Content-Length", "0" if status == 302 else str(len(content)))
                self.end_headers()
                if status != 302:
                    self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"

    def expect(self, is_right: bool, what: str) -> None:
        if not is_right:
            self.problems.append(what)

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        path = urlsplit(target).path
        if path == urlsplit(self.facts["authorize_url"]).path:
            return self.authorize({name: values[0] for name, values in parse_qs(urlsplit(target).query).items()})
        if path == urlsplit(self.facts["token_url"]).path and method == "POST":
            return self.token(headers, body)
        if path == urlsplit(self.facts["userinfo_url"]).path:
            scheme = self.facts.get("authorization_scheme", "Bearer")
            self.expect(headers.get("Authorization") == f"{scheme} canary-access-{self.issued}", "Authorization")
            user: dict[str, Any] = {}
            place(self.facts["subject_pointer"], "u-1", user)
            place(self.facts["name_pointer"], "Ada Example", user)
            return 200, "application/json", json.dumps(user).encode()
        return 404, "application/json", b"{}"

    def authorize(self, query: dict[str, str]) -> tuple[int, str, bytes]:
        self.expect(query.get("code_challenge_method") == "S256", "PKCE")
        scopes = self.facts.get("default_scopes", []) + self.facts.get("offline", {}).get("scopes", [])
        wanted = self.facts.get("scope_delimiter", " ").join(scopes) or None
        self.expect(query.get(self.facts.get("scope_parameter", "scope")) == wanted, f"scope: {query}")
        for name, value in self.facts.get("authorize_parameters", {}).items():
            self.expect(query.get(name) == value, name)
        self.challenge = query["code_challenge"]
        answer = {"code": "canary-code", "state": query["state"]}
        return 302, "", (query["redirect_uri"] + "?" + urlencode(answer)).encode()

    def token(self, headers: Any, body: bytes) -> tuple[int, str, bytes]:
        is_json = self.facts.get("token_request") == "json"
        form = json.loads(body) if is_json else {name: values[0] for name, values in parse_qs(body.decode()).items()}
        basic = "Basic " + base64.b64encode(("app:" + urlencode({"": SECRET})[1:]).encode()).decode()
        how = self.facts.get("client_authentication")
        if how in ("post", "basic"):
            shown = form.get("client_secret") == SECRET if how == "post" else headers.get("Authorization") == basic
            self.expect(shown, f"client authentication by {how}")
        for name, value in self.facts.get("required_headers", {}).items():
            self.expect(headers.get(name) == value.replace("{app}", "Handshake").replace("{client_id}", "app"), name)
        if form["grant_type"] == "authorization_code":
            digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
            self.expect(digest == self.challenge, "code_verifier")
        else:
            self.expect(form["refresh_token"] == f"canary-refresh-{self.issued}", "refresh_token")
        self.issued += 1
        answer: dict[str, Any] = {}
        where = self.facts.get("token_place", "/access_token")
        place(where, f"canary-access-{self.issued}", answer)
        beside = where.rsplit("/", 1)[0]
        place(beside + "/token_type", "bearer", answer)
        if not self.facts.get("offline", {}).get("never"):
            place(beside + "/refresh_token", f"canary-refresh-{self.issued}", answer)
        if "absent_expiry" not in self.facts:
            place(beside + "/expires_in", 3600, answer)
        if self.facts.get("token_answer") == "form":
            return 200, "application/x-www-form-urlencoded", urlencode(answer).encode()
        return 200, "application/json", json.dumps(answer).encode()


@contextmanager
def twin(facts: dict[str, Any]) -> Iterator[Twin]:
    served = Twin(facts)
    threading.Thread(target=served.server.serve_forever, daemon=True).start()
    try:
        yield served
    finally:
        served.server.shutdown()
        served.server.server_close()
