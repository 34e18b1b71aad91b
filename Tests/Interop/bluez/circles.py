"""A circle's server with a sandbox of its community's service, and people who join it."""

import html
import json
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
import requests

import bluez
import formlogin
from command import Finished, Handshake, Running, binary
from strangers import REPOSITORY

ADA, ZOE, QUENTIN = 759, 65535, 70000
USERS = {ADA: ("ada@example.test", "never-graduate"), ZOE: ("zoe@example.test", "be-kind"), QUENTIN: ("quentin@example.test", "pair-often")}


@dataclass
class Circle:
    """A circle's server and the sandbox of its community's service."""

    address: str
    service: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        port = urlsplit(self.address).port
        assert port
        return port

    def asked_service(self) -> list[dict[str, Any]]:
        lines = requests.get(f"{self.service}/_sandbox/requests", timeout=10).text.splitlines()
        return [json.loads(line) for line in lines]

    def photo(self, person: int) -> bytes:
        """A person's photo at the service."""
        headers = {"Authorization": f"Bearer sandbox-personal-access-token-{person}"}
        profile = requests.get(f"{self.service}/api/v1/profiles/{person}", headers=headers, timeout=10).json()
        return requests.get(urljoin(self.service, profile["image_path"]), headers=headers, timeout=10).content

    def forget_requests(self) -> None:
        assert requests.delete(f"{self.service}/_sandbox/requests", timeout=10).ok

    def order(self, line: str) -> str:
        """Types a line, and gives what the server says."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def serving(folder: Path) -> Iterator[Circle]:
    path = binary()
    assert path
    # Tests/Mutations runs a command without a server beside it.
    servers = (folder / "CircleServer" for folder in (path.parent, REPOSITORY / ".build/debug"))
    server = next(filter(Path.exists, servers), None)
    if not server:
        pytest.skip("the example CircleServer is not built")
    process = subprocess.Popen([str(server), "--port", str(free_port()), "--folder", str(folder), "--print-json"],
                               env={"PATH": "/usr/bin:/bin", "HOME": str(folder)}, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout
        told = json.loads(process.stdout.readline())
        yield Circle(told["circle"], told["recurse_center"], process)
    finally:
        process.kill()
        process.communicate()


class Browser:
    """What a person does on the pages: compares the code, signs in, and joins."""

    def __init__(self, circle: Circle) -> None:
        self.circle, self.session = circle, requests.Session()

    def post(self, page: requests.Response, **chosen: str) -> requests.Response:
        form = re.search(r'<form method="post"(?: action="([^"]*)")?[^>]*>(.*?)</form>', page.text, re.S)
        assert form, page.text
        fields = {name: html.unescape(value) for name, value
                  in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[2])}
        origin = "/".join(page.url.split("/")[:3])
        return self.session.post(urljoin(page.url, html.unescape(form[1] or "")), data=fields | chosen,
                                 headers={"Origin": origin}, allow_redirects=False, timeout=10)

    def join(self, url: str, code: str, user: tuple[str, str]) -> None:
        page = self.session.get(url, timeout=10)
        assert code in page.text
        away = self.post(page)
        assert away.status_code == 303, away.text
        asked = self.session.get(formlogin.walk(away.headers["Location"], *user), timeout=10)
        assert asked.status_code == 200, asked.text
        assert "You have joined" in self.post(asked, answer="yes").text


class Member:
    """A person's command on one machine."""

    def __init__(self, circle: Circle, number: int, home: Path, air: bluez.Air) -> None:
        path = binary()
        assert path
        self.circle, self.number, self.air = circle, number, air
        self.command = Handshake(path, home)
        self.command.environment |= air.environment

    def join(self, *options: str) -> dict[str, Any]:
        return dict(json.loads(self.try_to_join(*options).ok().stdout.splitlines()[-1]))

    def try_to_join(self, *options: str) -> Finished:
        """Joins in the browser; the command can still fail."""
        joining = self.command.start(
            "nearby", "circle", "join", self.circle.address, "--browser", "print", "--json", *options)
        url = joining.line()
        end = time.monotonic() + 20
        while not (code := re.search(r"code: (\S+)", "\n".join(joining.lines["stderr"]))):
            assert time.monotonic() < end
            time.sleep(0.05)
        Browser(self.circle).join(url, code[1], USERS[self.number])
        return joining.finish()

    def sign_in(self) -> None:
        """Signs in to the community's service too, which names and shows people who are in no circle."""
        self.command.run("login", "recurse-center", "--base-url", self.circle.service, "--token-file", "-", "--json",
                         stdin=f"sandbox-personal-access-token-{self.number}\n").ok()

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.command.run("nearby", "log", "--json").ok().stdout.splitlines()]

    def nearby(self, *arguments: str) -> dict[str, Any]:
        return dict(self.command.run("nearby", *arguments, "--json").ok().json)

    def watch(self, *options: str) -> Running:
        return self.air.watched(self.command.start("nearby", "watch", "--advertise", "rolling", "--json", *options))

    def members(self) -> list[tuple[int, str]]:
        return [(row["person"], row["name"]) for row in self.nearby("circle", "members")["members"]]
