"""Starts and stops the servers that others wrote, and asks them what happened.

Their packages live in virtual environments that every run shares, in `$HANDSHAKE_INTEROP_DIR` (default `.build/interop`).
A server ends with the tests, or after `LIFE_SECONDS` by itself, whatever becomes of the tests.
"""

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import requests

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
CACHE = Path(os.environ.get("HANDSHAKE_INTEROP_DIR") or REPOSITORY / ".build/interop")
LIFE_SECONDS = 2400  # longer than the suite may take on a busy machine
START_SECONDS = 60

PACKAGES = {
    # oauthlib 4 breaks the device endpoint of this version.
    "django_oauth_toolkit": ["django-oauth-toolkit==3.4.1", "oauthlib<4", "Django<6"],
    "mcp_server": ["mcp==2.3.0"],
    "authlib_provider": ["Authlib==1.9.8", "Flask", "joserfc"],
    "jwt_bearer_provider": ["Authlib==1.9.8", "Flask", "joserfc"],
    "fapi_provider": ["Flask", "joserfc"],
    "oidc_mock": ["oidc-provider-mock==0.3.4"],
    "canaille_provider": ["canaille[front,oidc,server,sqlite]==0.3.6", "Authlib==1.9.8"],
}


def http() -> requests.Session:
    """A session that takes nothing from the environment: proxies are not for loopback."""
    session = requests.Session()
    session.trust_env = False
    return session


def environment(name: str) -> Path:
    """The Python of the server's own virtual environment, made when missing; safe for concurrent processes."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder, wanted = CACHE / name, "\n".join(PACKAGES[name])
    stamp = folder / "complete"
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, timeout=120)
            subprocess.run([folder / "bin/pip", "install", "-q", "--no-input", "--disable-pip-version-check", *PACKAGES[name]],
                           check=True, timeout=580, stdin=subprocess.DEVNULL)
            stamp.write_text(wanted)
    return folder / "bin/python"


class Stranger:
    """A running server: where it is, what it was asked, which secrets it gave out."""

    def __init__(self, name: str, state: Path, *, redirect_uris: tuple[str, ...] = (), **settings: Any) -> None:
        self.name, self.state = name, state
        state.mkdir(parents=True, exist_ok=True)
        command: list[str | Path] = ["timeout", "--kill-after=5", str(LIFE_SECONDS), environment(name),
                                     HERE / f"servers/{name}.py", "--state", state]
        for uri in redirect_uris:
            command += ["--redirect-uri", uri]
        for setting, value in settings.items():
            command += ["--setting", f"{setting}={json.dumps(value)}"]
        self.log = state / "server.log"
        with self.log.open("wb") as log:
            # A session of its own, so that the whole group can be ended and a Ctrl-C in the terminal does not reach it first.
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL,
                                            start_new_session=True, cwd=state, env=self._environment())
        self.facts = self._facts()

    @staticmethod
    def _environment() -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
        return kept | {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}

    def _facts(self) -> dict[str, Any]:
        end = time.monotonic() + START_SECONDS
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)
        line = b""
        while not line.endswith(b"\n"):
            line += self.process.stdout.read() or b""
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"{self.name} did not start:\n" + self.log.read_text(errors="replace")[-2000:])
            time.sleep(0.02)
        return json.loads(line)

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait(10)

    # Where things are

    @property
    def issuer(self) -> str:
        return self.facts["issuer"]

    @property
    def origin(self) -> str:
        return self.facts["origin"]

    @property
    def user(self) -> tuple[str, str]:
        return self.facts["user"], self.facts["password"]

    def secret(self, client_id: str) -> str:
        return self.facts["secrets"][client_id]

    def metadata(self) -> dict[str, Any]:
        """RFC 8414 metadata."""
        path = self.issuer[len(self.origin):]
        return http().get(f"{self.origin}/.well-known/oauth-authorization-server{path}", timeout=10).json()

    def openid_metadata(self) -> dict[str, Any]:
        return http().get(f"{self.issuer}/.well-known/openid-configuration", timeout=10).json()

    # What happened

    def _lines(self, name: str) -> list[Any]:
        file = self.state / name
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def requests(self, path: str | None = None, grant_type: str | None = None) -> list[dict[str, Any]]:
        return [r for r in self._lines("requests.jsonl")
                if path in (None, r["path"]) and grant_type in (None, r["grant_type"])]

    def secrets(self) -> set[str]:
        """Every token, code, verifier and client secret that this server knows."""
        return {value for _, value in self._lines("secrets.jsonl")} | set(self.facts["secrets"].values())

    def newest(self, kind: str) -> str:
        """The `access_token`, `refresh_token`, `id_token` or `code` that was given out last."""
        return [value for name, value in self._lines("secrets.jsonl") if name == kind][-1]

    def introspect(self, token: str) -> dict[str, Any]:
        answer = http().post(self.metadata()["introspection_endpoint"], data={"token": token}, timeout=10,
                             auth=("web", self.secret("web")))
        assert answer.status_code == 200, answer.status_code
        return answer.json()

    def is_active(self, token: str) -> bool:
        return self.introspect(token)["active"]

    def expire_access_tokens(self) -> None:
        """Ends all access tokens, behind the client's back; django-oauth-toolkit only."""
        with closing(sqlite3.connect(self.state / "db.sqlite3", timeout=20)) as database, database:
            database.execute("UPDATE oauth2_provider_accesstoken SET expires = '2000-01-01 00:00:00'")

    @contextmanager
    def living(self, seconds: int) -> Iterator[None]:
        """While inside, access tokens are given out for so many seconds; django-oauth-toolkit only."""
        draft, lifetime = self.state / "lifetime.draft", self.state / "lifetime"
        draft.write_text(str(seconds))
        draft.rename(lifetime)  # the server never reads half of it
        try:
            yield
        finally:
            lifetime.unlink()

    def wait_until_expired(self, token: str, seconds: float = 15) -> None:
        """Returns when the server itself says that the token is no longer good."""
        end = time.monotonic() + seconds
        while self.is_active(token):
            assert time.monotonic() < end, "the access token outlives its announced lifetime"
            time.sleep(0.1)

    # Faults

    @contextmanager
    def held(self, path: str | None = None, *, process: bool, seconds: float = 0, status: int = 503,
             body: str = "") -> Iterator[Path]:
        """While inside, requests to `path` (default: the token endpoint) wait, at most `seconds` each.

        With `process` the server does its work first and only the answer waits; without it the server does nothing, and
        `status` and `body` are answered. The path that is yielded exists as soon as a request is waiting.
        """
        waiting, fault = self.state / "held", self.state / "fault.json"
        waiting.unlink(missing_ok=True)
        draft = self.state / "fault.draft"
        draft.write_text(json.dumps({"path": path or self.facts["token_path"], "process": process, "seconds": seconds,
                                     "status": status, "body": body}))
        draft.rename(fault)  # the server never reads half of it
        try:
            yield waiting
        finally:
            fault.unlink(missing_ok=True)


def wait_for(file: Path, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < end, f"{file.name} did not appear"
        time.sleep(0.02)
