"""`handshake sandbox` as a process of its own: the service for the commands of one kit, with faults on demand."""

import json
import time
from typing import Any
from urllib.parse import urlencode, urlsplit

import formlogin
from command import Finished, Handshake, Login, dict_of
from strangers import http


class StandIn:
    """Sequencing.com's stand-in in a running sandbox."""

    def __init__(self, command: Handshake) -> None:
        self.running = command.start("sandbox", "--print-json")
        described = json.loads(self.running.line())["services"]
        self.facts = described["sequencing"]
        self.other = described["recurse-center"]
        self.standard = described["standard"]
        self.resources = described["resources"]
        self.mutual_tls = described["mutual-tls"]
        self.origin: str = self.facts["origin"]

    def user(self, name: str) -> tuple[str, str]:
        found = next(user for user in self.facts["users"] if user["name"].startswith(f"{name}@"))
        return found["name"], found["password"]

    def sign_in(self, handshake: Handshake, name: str = "ada", account: str = "sequencing", *options: str,
                prints_json: bool = True) -> Finished:
        """The whole of it: `login`, the page, the redirect."""
        return self._sign_in(handshake, "sequencing", account, self.origin, "my-genome-app", self.user(name), *options,
                             prints_json=prints_json)

    def sign_in_elsewhere(self, handshake: Handshake) -> None:
        """An account of another service, called `recurse-center`."""
        user = self.other["users"][0]
        self._sign_in(handshake, "recurse-center", "recurse-center", self.other["origin"], "recurse-public",
                      (user["name"], user["password"]))

    @staticmethod
    def _sign_in(handshake: Handshake, service: str, account: str, origin: str, client: str, user: tuple[str, str],
                 *options: str, prints_json: bool = True) -> Finished:
        login = handshake.begin_login(service, "--account", account, "--base-url", origin, "--client-id", client, *options,
                                      prints_json=prints_json)
        redirect = formlogin.walk(login.url, *user)
        assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
        return login.finish().ok()

    # Steering

    def _control(self, method: str, path: str, body: str = "") -> str:
        answer = http().request(method, f"{self.origin}/_sandbox/{path}", data=body.encode(), timeout=10)
        assert answer.status_code < 300, answer.text
        return answer.text

    def fault(self, *rules: str) -> None:
        self._control("POST", "faults", "\n".join(f"sequencing {rule}" for rule in rules))

    def answer(self, path: str, content: Any) -> None:
        """Answers a path with this JSON until the test is over."""
        self.fault(f"{path} => body {json.dumps(content)}")

    def reset(self) -> None:
        self._control("DELETE", "faults")
        self.forget_requests()

    def forget_requests(self) -> None:
        self._control("DELETE", "requests")

    def standard_control(self, path: str, body: str = "") -> None:
        answer = http().post(f"{self.standard['origin']}/_sandbox/{path}", data=body.encode(), timeout=10)
        assert answer.status_code < 300, answer.text

    def approve(self, login: Login) -> Finished:
        """The standard server's first user signs in; what the command makes of it."""
        user = self.standard["users"][0]
        redirect = formlogin.walk(login.url, user["name"], user["password"])
        assert http().get(redirect, timeout=10).status_code == 200
        return login.finish()

    def complete(self, login: Login) -> Login:
        """The standard server's first user signs in."""
        self.approve(login).ok()
        return login

    def pass_time(self, seconds: int) -> None:
        self._control("POST", "clock", str(seconds))

    def expire_access_tokens(self) -> None:
        self._control("POST", "expire-access-tokens")

    def revoke_refresh_tokens(self) -> None:
        self._control("POST", "revoke-refresh-tokens")

    def request_count(self) -> int:
        """How many requests came since the test began."""
        return len(self._control("GET", "requests").splitlines())

    def wait_for_request(self, after: int, seconds: float = 30) -> None:
        """Returns when a request has come after the first `after` ones."""
        end = time.monotonic() + seconds
        while self.request_count() <= after:
            assert time.monotonic() < end, "no request came"
            time.sleep(0.02)

    def requests(self, path: str) -> list[dict[str, Any]]:
        """What was asked of this path since the test began."""
        lines = [json.loads(line) for line in self._control("GET", "requests").splitlines()]
        return [line for line in lines if line["path"] == path]
