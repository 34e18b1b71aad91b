"""The built `handshake`, driven as a person or a script would."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

import formlogin
from strangers import REPOSITORY, Stranger, http

COMMAND_SECONDS = 60


def binary() -> Path | None:
    """The command under test, or nothing when it has not been built."""
    named = os.environ.get("HANDSHAKE_BIN")
    path = Path(named) if named else REPOSITORY / ".build/debug/handshake"
    return path if path.is_file() and os.access(path, os.X_OK) else None


@dataclass(frozen=True)
class Finished:
    """What a run of the command left behind."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict[str, Any]:
        """The last line of standard output."""
        return json.loads(self.stdout.strip().splitlines()[-1])

    @property
    def error(self) -> dict[str, Any]:
        """The error object on standard error."""
        for line in reversed(self.stderr.strip().splitlines()):
            if line.startswith("{"):
                return json.loads(line)["error"]
        raise AssertionError(f"no error object on standard error: {self.stderr!r}")

    def ok(self) -> "Finished":
        assert self.status == 0, f"status {self.status}\nstdout: {self.stdout}\nstderr: {self.stderr}"
        return self


def secret_file(path: Path, text: str) -> Path:
    """A file that only its owner can read: the command refuses any other as a secret."""
    path.touch(0o600)
    path.write_text(text)
    return path


class Running:
    """A command that is still at work; its output is collected line by line."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], stdin: str | None) -> None:
        self.process = subprocess.Popen(arguments, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                                        text=True, start_new_session=True)
        self.lines: dict[str, list[str]] = {"stdout": [], "stderr": []}
        self.fresh: queue.Queue[str] = queue.Queue()
        self.threads = [threading.Thread(target=self._collect, args=(name,), daemon=True) for name in self.lines]
        for thread in self.threads:
            thread.start()
        if stdin is not None:
            assert self.process.stdin
            # A command that refuses its options does not wait for what it is told.
            with contextlib.suppress(BrokenPipeError):
                # What is no text is written by `surrogateescape`.
                self.process.stdin.buffer.write(stdin.encode(errors="surrogateescape"))
                self.process.stdin.close()

    def _collect(self, name: str) -> None:
        for line in getattr(self.process, name):
            self.lines[name].append(line)
            if name == "stdout":
                self.fresh.put(line)

    def line(self, seconds: float = 30) -> str:
        """The next line of standard output."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                return self.fresh.get(timeout=0.05).rstrip("\n")
            except queue.Empty:
                if self.process.poll() is None:
                    continue
                # What was printed before the end may still be on its way through the pipe.
                for thread in self.threads:
                    thread.join(5)
                if self.fresh.empty():
                    break
        finished = self.finish(1) if self.process.poll() is not None else None
        raise AssertionError(f"no line on standard output within {seconds} s: {finished}")

    def is_running(self) -> bool:
        return self.process.poll() is None

    def finish(self, seconds: float = COMMAND_SECONDS) -> Finished:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(f"still running after {seconds} s; stderr: {''.join(self.lines['stderr'])}") from None
        for thread in self.threads:
            thread.join(5)
        return Finished(self.process.returncode, "".join(self.lines["stdout"]), "".join(self.lines["stderr"]))

    def end(self) -> None:
        """Interrupts the command, so that it removes its files, and ends what is left of it and its children by its own process group."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(10)

    def kill(self) -> None:
        """As a power cut would."""
        with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def visible_to_others(self) -> bytes:
        """Arguments and environment of the process and of all its descendants, as `/proc` shows them."""
        seen = b""
        for pid in descendants(self.process.pid):
            for name in ("cmdline", "environ"):
                try:
                    seen += Path(f"/proc/{pid}/{name}").read_bytes()
                except OSError:
                    continue  # it ended meanwhile
        return seen


def descendants(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        children = []
    return [pid] + [d for child in children for d in descendants(int(child))]


class Login(Running):
    """`login … --browser print --json`, between the printed URL and the redirect."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], stdin: str | None) -> None:
        super().__init__(arguments, environment, stdin)
        try:
            self.url = self.line()
        except BaseException:
            self.end()
            raise
        assert self.url.startswith("http"), f"the first line is not an authorization URL: {self.url!r}"

    @property
    def parameters(self) -> dict[str, str]:
        query = parse_qs(urlsplit(self.url).query, keep_blank_values=True)
        twice = [name for name, values in query.items() if len(values) > 1]
        assert not twice, f"given twice: {twice}"
        return {name: values[0] for name, values in query.items()}

    @property
    def redirect_uri(self) -> str:
        return self.parameters["redirect_uri"]

    def deliver(self, query: str, *, method: str = "GET", path: str | None = None, **options: Any) -> requests.Response:
        """Sends a redirect to the command's listener, as the browser would."""
        target = self.redirect_uri if path is None else f"{urlsplit(self.redirect_uri)._replace(path=path).geturl()}"
        return http().request(method, f"{target}?{query}", timeout=10, allow_redirects=False, **options)

    def approve(self, server: Stranger, *, consent: bool = True) -> dict[str, str]:
        """The user logs in and consents; the parameters of the redirect, not yet delivered."""
        return dict_of(urlsplit(formlogin.walk(self.url, *server.user, consent=consent)).query)

    def complete(self, server: Stranger) -> Finished:
        """The whole of it: log in, consent, follow the redirect, wait for the command."""
        answer = self.deliver(urlencode(self.approve(server)))
        assert answer.status_code == 200, f"the listener answered {answer.status_code}"
        return self.finish()


def dict_of(query: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}


class Handshake:
    """The command with a home of its own. Remembers all that it printed, for the search for secrets."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path, self.home = path, home
        self.started: list[tuple[Running, bool]] = []
        kept = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
        self.environment = kept | {"HANDSHAKE_HOME": str(home), "HOME": str(home.parent), "LANG": "C.UTF-8", "TERM": "dumb"}

    def _keep(self, running: Any, reveals: bool) -> Any:
        self.started.append((running, reveals))
        return running

    def start(self, *arguments: str, stdin: str | None = None, **environment: str) -> Running:
        running = Running([str(self.path), *arguments], self.environment | environment, stdin)
        return self._keep(running, arguments[0] in ("token", "headers"))

    def run(self, *arguments: str, stdin: str | None = None, seconds: float = COMMAND_SECONDS, **environment: str) -> Finished:
        return self.start(*arguments, stdin=stdin, **environment).finish(seconds)

    def run_into_timeout(self, *arguments: str, counting: Callable[[], int], undo: Callable[[], None] | None = None,
                         stdin: str | None = None) -> Finished:
        """Runs the command with a `--timeout` that ends it after something has happened, as when a request reached a server.

        `counting` says how often it has happened. On a busy machine the time may be over before: the command is then run again with twice the
        time, after `undo` has removed what it left. All of it takes about a minute at most: pytest ends a test after two."""
        seconds = 2
        while True:
            before = counting()
            done = self.run(*arguments, "--timeout", str(seconds), stdin=stdin, seconds=seconds + COMMAND_SECONDS)
            if counting() > before or seconds >= 32:
                return done
            if undo:
                undo()
            seconds *= 2

    def login(self, name: str, server: Stranger | str, *options: str, client: str = "native",
              secret: str | None = None, timeout: int = 60) -> Login:
        """Starts a sign-in and returns when the authorization URL has been printed."""
        issuer = server if isinstance(server, str) else server.issuer
        arguments = ["login", name, "--issuer", issuer, "--client-id", client, "--browser", "print", "--json",
                     "--timeout", str(timeout), *options]
        if secret is not None:
            arguments += ["--client-secret-file", "-"]
        stdin = None if secret is None else secret + "\n"
        return self._keep(Login([str(self.path), *arguments], self.environment, stdin), False)

    def begin_login(self, service: str | None, *options: str, prints_json: bool = True) -> Login:
        """The same for a service that the command knows by name, or whose name comes from the options."""
        arguments = ["login", *([service] if service else []), "--browser", "print", "--timeout", "60",
                     *(["--json"] if prints_json else []), *options]
        return self._keep(Login([str(self.path), *arguments], self.environment, None), False)

    def signed_in(self, name: str, server: Stranger, *options: str, **more: Any) -> dict[str, Any]:
        return self.login(name, server, *options, **more).complete(server).ok().json

    def token(self, name: str) -> str:
        return self.run("token", name).ok().stdout.strip()

    def accounts(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.run("accounts", "--json").ok().stdout.splitlines() if line]
        return [account for line in lines for account in line.get("accounts", [line])]

    def printed(self, *, with_tokens: bool = False) -> bytes:
        """All that was printed. What `token` and `headers` print is a token on request: it counts only when asked for."""
        parts = [line for running, reveals in self.started for name, lines in running.lines.items() for line in lines
                 if with_tokens or not (reveals and name == "stdout")]
        return "".join(parts).encode()

    def end(self) -> None:
        for running, _ in self.started:
            running.end()
