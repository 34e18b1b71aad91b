"""Wrong, foreign and malformed redirects, delivered to the loopback listener as a browser or an attacker would."""

import os
import re
import resource
import signal
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest
import requests

from command import Handshake, Login
from strangers import Stranger, http


@pytest.fixture
def login(handshake: Handshake, django: Stranger) -> Login:
    return handshake.login("mine", django, "--scope", "openid", timeout=30)


def spent_nothing(handshake: Handshake, django: Stranger, before: int) -> None:
    assert handshake.accounts() == [], "something was stored"
    assert len(django.requests(django.facts["token_path"])) == before, "the code was sent on"


@pytest.fixture
def token_requests(django: Stranger) -> int:
    return len(django.requests(django.facts["token_path"]))


def test_a_redirect_with_a_foreign_state_does_not_end_the_flow(login: Login, django: Stranger) -> None:
    right = login.approve(django)
    for query in ({"code": "stolen", "state": "wrong", "iss": django.issuer}, {"code": "stolen", "iss": django.issuer},
                  {"error": "access_denied", "state": "wrong"}, {"error": "access_denied"}, {"state": ""}, {}):
        assert login.deliver(urlencode(query)).status_code >= 400, query
    assert login.is_running()
    assert login.deliver(urlencode(right)).status_code == 200
    assert login.finish().ok().json["account"] == "mine"


def test_when_only_foreign_redirects_come_time_runs_out(handshake: Handshake, django: Stranger, token_requests: int) -> None:
    login = handshake.login("mine", django, timeout=3)
    login.deliver(urlencode({"code": "stolen", "state": "wrong"}))
    assert login.finish(20).status == 2
    spent_nothing(handshake, django, token_requests)


@pytest.mark.parametrize("change", [
    pytest.param({"iss": "http://127.0.0.1:1/o"}, id="another issuer"),
    pytest.param({"iss": None}, id="no issuer although announced"),
    pytest.param({"iss": "slash"}, id="issuer with a slash more"),
    pytest.param({"code": None}, id="no code"),
    pytest.param({"code": ""}, id="empty code"),
])
def test_a_redirect_that_is_ours_but_wrong_is_refused_for_safety(
        handshake: Handshake, login: Login, django: Stranger, token_requests: int, change: dict[str, str | None]) -> None:
    answer: dict[str, str | None] = login.approve(django) | change  # type: ignore[assignment]
    if answer["iss"] == "slash":
        answer["iss"] = django.issuer + "/"
    login.deliver(urlencode({name: value for name, value in answer.items() if value is not None}))
    done = login.finish()
    assert done.status == 5
    assert done.error["status"] == 5 and done.error["code"] and done.error["message"]
    spent_nothing(handshake, django, token_requests)


@pytest.mark.parametrize("name", ["code", "iss", "error"])
def test_a_parameter_that_comes_twice_stops_the_flow(
        handshake: Handshake, login: Login, django: Stranger, token_requests: int, name: str) -> None:
    answer = login.approve(django)
    twice = [(name, answer.get(name, "access_denied")), (name, "another")]
    login.deliver(urlencode([*((n, v) for n, v in answer.items() if n != name), *twice]))
    done = login.finish()
    assert done.status == 5
    assert name in done.error["message"]
    spent_nothing(handshake, django, token_requests)


def with_states(answer: dict[str, str], *states: str) -> str:
    return urlencode([*((n, v) for n, v in answer.items() if n != "state"), *(("state", state) for state in states)])


@pytest.mark.parametrize("other", ["another", "own"])
def test_a_state_that_comes_twice_is_never_a_match(
        handshake: Handshake, login: Login, django: Stranger, token_requests: int, other: str) -> None:
    answer = login.approve(django)
    own = answer["state"]
    login.deliver(with_states(answer, own, own if other == "own" else other))
    done = login.finish()
    assert done.status == 5 and "state" in done.error["message"], done
    spent_nothing(handshake, django, token_requests)


def test_a_foreign_state_before_the_right_one_does_not_end_the_flow(
        handshake: Handshake, login: Login, django: Stranger, token_requests: int) -> None:
    answer = login.approve(django)
    assert login.deliver(with_states(answer, "another", answer["state"])).status_code >= 400
    spent_nothing(handshake, django, token_requests)
    assert login.deliver(urlencode(answer)).status_code == 200
    assert login.finish().ok().json["account"] == "mine"


def test_unknown_parameters_are_ignored(login: Login, django: Stranger) -> None:
    answer = login.approve(django) | {"session_state": "x", "utm_source": "y"}
    assert login.deliver(urlencode(answer)).status_code == 200
    login.finish().ok()


def test_a_refusal_that_names_the_issuer_is_the_users_no(
        handshake: Handshake, login: Login, django: Stranger, token_requests: int) -> None:
    login.deliver(urlencode({"error": "access_denied", "state": login.parameters["state"], "iss": django.issuer}))
    done = login.finish()
    assert done.status == 2
    assert done.error["code"] == "access_denied"
    spent_nothing(handshake, django, token_requests)


def test_the_refusal_as_django_really_sends_it_ends_the_flow(
        handshake: Handshake, login: Login, django: Stranger, token_requests: int) -> None:
    # It lacks the `iss` that its metadata promises: to RFC 9207 a reason to stop, to the user a plain no.
    answer = login.approve(django, consent=False)
    assert "iss" not in answer
    login.deliver(urlencode(answer))
    assert login.finish().status in (2, 5)
    spent_nothing(handshake, django, token_requests)


def test_another_error_is_the_services(login: Login, django: Stranger) -> None:
    login.deliver(urlencode({"error": "temporarily_unavailable", "error_description": "back at noon",
                             "state": login.parameters["state"], "iss": django.issuer}))
    done = login.finish()
    assert done.status == 4
    assert done.error["code"] == "temporarily_unavailable" and "back at noon" in done.error["message"]


def test_hostile_text_from_the_server_is_harmless_on_the_page_and_in_the_terminal(login: Login, django: Stranger) -> None:
    text = "<script>alert(1)</script>\x1b[31m\x07\r\nSet-Cookie: a=b"
    page = login.deliver(urlencode({"error": "server_error", "error_description": text,
                                    "state": login.parameters["state"], "iss": django.issuer}))
    assert "<script" not in page.text and "Set-Cookie" not in page.headers
    done = login.finish()
    # RFC 6749 allows no control character there, so refusing the whole form (5) is as right as quoting it cleaned (4).
    assert done.status in (4, 5)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stderr), "a control character reached the terminal"


def test_a_code_for_another_client_is_the_services_refusal(handshake: Handshake, login: Login, django: Stranger) -> None:
    login.deliver(urlencode(login.approve(django) | {"code": "forged"}))
    done = login.finish()
    assert done.status == 4
    assert done.error["code"] == "invalid_grant"
    assert handshake.accounts() == []


# The listener itself

def test_other_methods_paths_and_hosts_do_not_end_the_flow(login: Login, django: Stranger) -> None:
    right = urlencode(login.approve(django))
    for method, path in (("POST", None), ("PUT", None), ("OPTIONS", None), ("GET", "/"), ("GET", "/favicon.ico"),
                         ("GET", "/callback/"), ("GET", "/Callback"), ("GET", "//callback")):
        assert login.deliver(right, method=method, path=path).status_code >= 400, f"{method} {path}"
    assert login.deliver(right, headers={"Host": "attacker.example"}).status_code >= 400
    assert login.is_running()
    assert login.deliver(right).status_code == 200
    login.finish().ok()


def test_garbage_and_endless_requests_do_not_end_the_flow(login: Login, django: Stranger) -> None:
    where = urlsplit(login.redirect_uri)
    for data in (b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"GET " + b"/a" * 100_000,
                 b"GET /callback HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, b"GET /callback?%zz HTTP/1.1\r\nHost: x\r\n\r\n"):
        with socket.create_connection((where.hostname, where.port), timeout=5) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(5)
                while connection.recv(4096):
                    pass
            except OSError:
                pass  # cut off: as it should be
    assert login.complete(django).ok().json["account"] == "mine"


def test_a_silent_connection_does_not_keep_the_redirect_out(login: Login, django: Stranger) -> None:
    where = urlsplit(login.redirect_uri)
    with socket.create_connection((where.hostname, where.port), timeout=5):
        assert login.complete(django).ok().json["account"] == "mine"


def leave_descriptors(login: Login, number: int) -> None:
    """Leaves the command this many more than it has while it listens."""
    where = urlsplit(login.redirect_uri)
    # Refused when the listener has begun, and closed when sending fails.
    with socket.create_connection((where.hostname, where.port), timeout=40) as connection, suppress(ConnectionError):
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        while True:
            connection.sendall(b"\n")
    open_ones = {int(path.name) for path in Path(f"/proc/{login.process.pid}/fd").iterdir()}
    # A new one gets the lowest number that is free.
    limit = sorted(set(range(max(open_ones) + number + 2)) - open_ones)[number]
    resource.prlimit(login.process.pid, resource.RLIMIT_NOFILE, (limit, limit))


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_connections_that_take_all_descriptors_do_not_keep_the_redirect_out(handshake: Handshake, django: Stranger) -> None:
    # Root's programs are asked whose a connection is only if `sudo` has started them.
    handshake.environment["SUDO_UID"] = str(os.getuid())
    login = handshake.login("mine", django, "--scope", "openid")
    right = urlencode(login.approve(django))
    where = urlsplit(login.redirect_uri)
    leave_descriptors(login, 8)
    with ExitStack() as others:
        for _ in range(31):
            others.enter_context(socket.create_connection((where.hostname, where.port), timeout=5))
        assert login.deliver(right).status_code == 200
        assert login.finish().ok().json["account"] == "mine"


def test_a_listener_without_a_descriptor_does_not_work_all_the_time(handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("mine", django, timeout=6)
    where, pid = urlsplit(login.redirect_uri), login.process.pid
    leave_descriptors(login, 0)
    with socket.create_connection((where.hostname, where.port), timeout=5):
        before = processor_seconds(pid)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert processor_seconds(pid) - before < 0.5, "it asks again and again for a connection that it cannot have"
    assert login.finish().status == 2


def test_the_listener_is_on_loopback_only_and_gone_afterwards(login: Login, django: Stranger) -> None:
    port = urlsplit(login.redirect_uri).port
    listening = [line.split() for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}").readlines()[1:]]
    own = [fields[1] for fields in listening if fields[3] == "0A" and int(fields[1].rsplit(":", 1)[1], 16) == port]
    assert own and all(a.split(":")[0] in ("0100007F", "00000000000000000000000001000000") for a in own)
    login.complete(django).ok()
    with pytest.raises(requests.ConnectionError):
        http().get(login.redirect_uri, timeout=5)


def test_the_result_page_loads_nothing_links_nowhere_and_tells_no_referrer(login: Login, django: Stranger) -> None:
    page = login.deliver(urlencode(login.approve(django)))
    login.finish().ok()
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Content-Type"].lower().startswith("text/html")
    outgoing = r"(?:href|src|action)\s*=\s*.?(?!data:)[^\"' ]|http-equiv\s*=\s*.?refresh|@import|url\("
    assert not re.search(outgoing, page.text, re.I)


def test_the_redirect_is_served_once(login: Login, django: Stranger) -> None:
    right = urlencode(login.approve(django))
    with django.held(process=True, seconds=3):
        assert login.deliver(right).status_code == 200
        with pytest.raises(requests.RequestException):
            again = login.deliver(right)
            raise requests.RequestException(again.status_code) if again.status_code >= 400 else AssertionError("twice")
    login.finish().ok()


def test_ctrl_c_ends_cleanly_with_130(handshake: Handshake, login: Login) -> None:
    os.kill(login.process.pid, signal.SIGINT)
    done = login.finish(10)
    assert done.status == 130
    assert "Fatal error" not in done.stderr
    assert handshake.accounts() == []


def test_the_code_is_not_printed_when_the_redirect_is_refused(login: Login, django: Stranger) -> None:
    code = "canary-" + "c" * 32
    login.deliver(urlencode(login.approve(django) | {"code": code, "iss": "http://127.0.0.1:1/" + quote(code)}))
    done = login.finish()
    assert done.status == 5
    assert done.stdout.count("\n") == 1, "nothing but the URL"
