"""What every stranger shares: a listening socket, a record of what was asked, faults on demand.

Runs inside a server's own virtual environment, so it imports the standard library only.

The folder `--state` holds, for the tests to read or write:

* `requests.jsonl`: one line a request: method, path, names of parameters, status. Never a value that is secret.
* `secrets.jsonl`: every token, code, verifier and client secret that crossed the wire, `[name, value]` a line. With it a test
  can prove that none of them is printed or stored in clear.
* `fault.json`: while it exists, requests to its `path` wait, at most `seconds`, and `held` appears. With `process` true the
  server works first and its answer waits; else the server never hears of it, and `status` and `body` are the answer.
"""

import argparse
import base64
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

SECRET_MEMBERS = ("access_token", "refresh_token", "id_token")
SECRET_FIELDS = ("code", "code_verifier", "client_secret", "client_assertion", "assertion", "refresh_token", "token")


def arguments(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--redirect-uri", action="append", default=[])
    parser.add_argument("--setting", action="append", default=[], help="NAME=JSON, a setting of the server's own")
    return parser


def settings(pairs: Iterable[str]) -> dict[str, Any]:
    return {name: json.loads(value) for name, value in (pair.split("=", 1) for pair in pairs)}


def listen() -> socket.socket:
    """A listening socket on a port that the kernel chose, held from now on, so that no other process can take it."""
    return socket.create_server(("127.0.0.1", 0), backlog=64)


def announce(**facts: Any) -> None:
    """The one line on standard output that says where the server is."""
    print(json.dumps(facts), flush=True)


class Recorder:
    """WSGI middleware that keeps the record and carries out the fault."""

    def __init__(self, app: Callable[..., Iterable[bytes]], state: Path) -> None:
        self.app, self.state, self.lock = app, state, threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = self._body(environ)
        form = parse_qs(body.decode("latin-1"), keep_blank_values=True) if self._is_form(environ) else {}
        self._keep_secrets(environ, form)
        fault = self._fault(environ["PATH_INFO"])
        if fault and not fault["process"]:
            self._hold(fault)
            self._note(environ, form, fault["status"])
            content = fault["body"].encode()
            start_response(f"{fault['status']} Fault", [("Content-Type", "application/json"),
                                                        ("Content-Length", str(len(content)))])
            return [content]
        answer: dict[str, Any] = {}

        def started(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
            answer.update(status=status, headers=headers)
            return lambda _: None

        result = self.app(environ, started)
        try:
            content = b"".join(result)
        finally:
            if hasattr(result, "close"):
                result.close()
        self._keep_answer(answer["headers"], content)
        self._note(environ, form, int(answer["status"].split()[0]))
        if fault:
            self._hold(fault)
        start_response(answer["status"], answer["headers"])
        return [content]

    @staticmethod
    def _body(environ: dict[str, Any]) -> bytes:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        body = environ["wsgi.input"].read(length) if length else b""
        environ["wsgi.input"] = io.BytesIO(body)
        return body

    @staticmethod
    def _is_form(environ: dict[str, Any]) -> bool:
        return environ.get("CONTENT_TYPE", "").startswith("application/x-www-form-urlencoded")

    def _fault(self, path: str) -> dict[str, Any] | None:
        try:
            fault = json.loads((self.state / "fault.json").read_text())
        except FileNotFoundError:
            return None
        return fault if fault["path"] == path else None

    def _hold(self, fault: dict[str, Any]) -> None:
        (self.state / "held").touch()
        end = time.monotonic() + fault["seconds"]
        while time.monotonic() < end and (self.state / "fault.json").exists():
            time.sleep(0.02)

    def _append(self, name: str, lines: Iterable[str]) -> None:
        with self.lock, (self.state / name).open("a") as file:
            file.writelines(line + "\n" for line in lines)

    def _note(self, environ: dict[str, Any], form: dict[str, list[str]], status: int) -> None:
        authorization = environ.get("HTTP_AUTHORIZATION", "")
        self._append("requests.jsonl", [json.dumps({
            "method": environ["REQUEST_METHOD"], "path": environ["PATH_INFO"], "status": status,
            "query": sorted({name for name, _ in parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True)}),
            "form": sorted(form), "grant_type": form.get("grant_type", [None])[0],
            "authorization": authorization.split(" ", 1)[0].lower() or None, "user_agent": environ.get("HTTP_USER_AGENT"),
        })])

    def _keep_secrets(self, environ: dict[str, Any], form: dict[str, list[str]]) -> None:
        found = [("sent " + name, value) for name in SECRET_FIELDS for value in form.get(name, [])]
        scheme, _, credentials = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        if scheme.lower() == "basic":
            raw = base64.b64decode(credentials).decode("utf-8", "replace").partition(":")[2]
            found += [("sent client_secret", value) for value in (raw, unquote(raw), credentials)]
        self._append("secrets.jsonl", (json.dumps(pair) for pair in found if pair[1]))

    def _keep_answer(self, headers: list[tuple[str, str]], content: bytes) -> None:
        found = [("code", code) for name, value in headers if name.lower() == "location"
                 for code in parse_qs(urlsplit(value).query).get("code", [])]
        try:
            members = json.loads(content)
        except ValueError:
            members = {}
        if isinstance(members, dict):
            found += [(name, members[name]) for name in SECRET_MEMBERS if isinstance(members.get(name), str)]
        self._append("secrets.jsonl", map(json.dumps, found))
