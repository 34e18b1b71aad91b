"""The sandbox's Recurse Center, and a command that is signed in to it."""

import json
from dataclasses import dataclass

import requests

from command import Handshake, Running
from strangers import http

TOKEN = "sandbox-personal-access-token-759"


@dataclass
class Hub:
    """The sandbox's Recurse Center, and a command that talks to it."""

    handshake: Handshake
    sandbox: Running
    origin: str

    def steer(self, path: str, body: str = "", method: str = "POST") -> requests.Response:
        answer = http().request(method, f"{self.origin}/_sandbox/{path}", data=body.encode(), timeout=10)
        assert answer.ok, answer.text
        return answer

    def requests(self) -> list[dict[str, object]]:
        lines = self.steer("requests", method="GET").text.splitlines()
        return [entry for line in lines if (entry := json.loads(line))["path"].startswith("/api/")]

    def login(self, *options: str, token: str = TOKEN, status: int = 0) -> None:
        done = self.handshake.run("login", "recurse-center", "--base-url", self.origin, "--token-file", "-", "--json", *options,
                                  stdin=token + "\n")
        assert done.status == status, done
        self.steer("requests", method="DELETE")


def start(handshake: Handshake, *options: str) -> Hub:
    sandbox = handshake.start("sandbox", "--print-json", *options)
    return Hub(handshake, sandbox, json.loads(sandbox.line())["services"]["recurse-center"]["origin"])
