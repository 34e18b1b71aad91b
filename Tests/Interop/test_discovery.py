"""Metadata from a server that lies, fails or is not there: nothing is opened, nothing is stored."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from command import Finished, Handshake


class Liar:
    """An issuer on loopback that answers what a test tells it to."""

    def __init__(self) -> None:
        liar = self
        self.status, self.body, self.headers, self.asked = 200, b"", {"Content-Type": "application/json"}, list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                liar.asked.append(self.path)
                self.send_response(liar.status)
                for name, value in liar.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(liar.body)))
                self.end_headers()
                self.wfile.write(liar.body)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def says(self, **changes: Any) -> None:
        document = {
            "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token", "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        } | changes
        self.body = json.dumps({name: value for name, value in document.items() if value is not ...}).encode()


@pytest.fixture
def liar() -> Iterator[Liar]:
    one = Liar()
    yield one
    one.server.shutdown()
    one.server.server_close()


def login(handshake: Handshake, issuer: str) -> Finished:
    done = handshake.run("login", "mine", "--issuer", issuer, "--client-id", "native", "--browser", "print", "--json",
                         "--timeout", "2", seconds=45)
    if done.status != 2:
        assert done.stdout == "", "an authorization URL was printed"
        assert done.error["status"] == done.status
    assert handshake.accounts() == []
    return done


def test_the_liar_can_tell_the_truth(handshake: Handshake, liar: Liar) -> None:
    liar.says()
    done = login(handshake, liar.issuer)
    assert done.status == 2 and done.stdout.startswith(f"{liar.issuer}/authorize?")


@pytest.mark.parametrize("issuer", ["http://issuer.invalid", "http://192.0.2.1", "http://127.0.0.1.issuer.invalid",
                                    "http://127.0.0.1@issuer.invalid", "http://[2001:db8::1]"])
def test_plain_http_beyond_loopback_is_refused_before_anything_is_sent(handshake: Handshake, issuer: str) -> None:
    assert login(handshake, issuer).status in (5, 64)


@pytest.mark.parametrize("issuer", ["", "issuer", "ftp://127.0.0.1/", "file:///etc/passwd", "https://", "https://a b/",
                                    "https://issuer.invalid/?q", "https://issuer.invalid/#f", "javascript:alert(1)"])
def test_what_is_no_issuer_is_a_wrong_command_line(handshake: Handshake, issuer: str) -> None:
    assert login(handshake, issuer).status in (5, 64)


@pytest.mark.parametrize("change", [
    pytest.param({"issuer": "https://other.invalid"}, id="another issuer"),
    pytest.param({"issuer": "slash"}, id="issuer with a slash more"),
    pytest.param({"token_endpoint": "http://issuer.invalid/token"}, id="plain token endpoint"),
    pytest.param({"authorization_endpoint": "http://issuer.invalid/authorize"}, id="plain authorization endpoint"),
    pytest.param({"revocation_endpoint": "http://issuer.invalid/revoke"}, id="plain revocation endpoint"),
    pytest.param({"code_challenge_methods_supported": ["plain"]}, id="PKCE only plain"),
    pytest.param({"authorization_endpoint": "javascript:alert(1)"}, id="hostile authorization endpoint"),
    pytest.param({"token_endpoint": "https://user:pw@issuer.invalid/token"}, id="credentials in an endpoint"),
])
def test_unsafe_metadata_is_refused_for_safety(handshake: Handshake, liar: Liar, change: dict[str, Any]) -> None:
    if change.get("issuer") == "slash":
        change = {"issuer": liar.issuer + "/"}
    liar.says(**change)
    assert login(handshake, liar.issuer).status == 5


@pytest.mark.parametrize("change", [
    pytest.param({"token_endpoint": ...}, id="no token endpoint"),
    pytest.param({"authorization_endpoint": ...}, id="no authorization endpoint"),
    pytest.param({"issuer": ...}, id="no issuer"),
    pytest.param({"token_endpoint": 7}, id="a number for an endpoint"),
    pytest.param({"issuer": ["x"]}, id="a list for the issuer"),
])
def test_incomplete_metadata_names_the_member(handshake: Handshake, liar: Liar, change: dict[str, Any]) -> None:
    liar.says(**change)
    done = login(handshake, liar.issuer)
    assert done.status == 5
    assert next(iter(change)) in done.error["message"]


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'"x"', b"{", b"<html>", b"\xff\xfe{}", b'{"issuer":"a","issuer":"b"}',
                                  b"[" * 200_000, b'{"x":"' + b"y" * 3_000_000 + b'"}'],
                         ids=["empty", "null", "list", "text", "cut", "html", "encoding", "doubled", "deep", "huge"])
def test_what_is_no_metadata_is_an_error_of_the_service(handshake: Handshake, liar: Liar, body: bytes) -> None:
    liar.body = body
    # Too long an answer is cut off by us: 6.
    assert login(handshake, liar.issuer).status in (4, 5, 6)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_from_metadata_is_not_followed(handshake: Handshake, liar: Liar, status: int) -> None:
    liar.says()
    liar.status, liar.headers = status, {"Location": f"{liar.issuer}/elsewhere"}
    assert login(handshake, liar.issuer).status in (4, 5)
    assert "/elsewhere" not in liar.asked


@pytest.mark.parametrize("status", [404, 500, 503])
def test_an_issuer_without_metadata_is_an_error_of_the_service(handshake: Handshake, liar: Liar, status: int) -> None:
    liar.status = status
    assert login(handshake, liar.issuer).status == 4


def test_an_issuer_with_a_path_is_asked_at_three_addresses_in_order(handshake: Handshake, liar: Liar) -> None:
    liar.status = 404
    login(handshake, liar.issuer + "/tenant")
    assert liar.asked == [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ]


def test_an_unreachable_server_is_a_network_error(handshake: Handshake) -> None:
    assert login(handshake, "http://127.0.0.1:1").status == 6
