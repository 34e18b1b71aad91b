"""A sample app with its sandbox as a process of its own."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

from strangers import REPOSITORY, http


@dataclass(frozen=True)
class Sample:
    """Where the app and its sandbox are."""

    origin: str
    sandbox: str

    def misbehave(self, *rules: str) -> None:
        """Fault rules of the sandbox; without any it behaves again."""
        if rules:
            http().post(f"{self.sandbox}/_sandbox/faults", data="\n".join(rules).encode(), timeout=10).raise_for_status()
        else:
            http().delete(f"{self.sandbox}/_sandbox/faults", timeout=10).raise_for_status()


def program(name: str) -> Path:
    """A sample's program. `GROCERY_EXPRESS_BIN` and the like name one in another place."""
    named = os.environ.get(re.sub("(?<=[a-z])(?=[A-Z])", "_", name).upper() + "_BIN")
    path = Path(named) if named else REPOSITORY / f".build/debug/{name}"
    if not path.is_file():
        pytest.skip(f"{name} is not built: `swift build --product {name}`")
    return path


@contextmanager
def opened(name: str, *arguments: str) -> Iterator[dict[str, str]]:
    """Starts the app, gives what it prints about itself, and closes it with Ctrl-C."""
    process = subprocess.Popen([program(name), *arguments, "--print-json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=os.environ | {"LC_ALL": "C.UTF-8"})
    limit = threading.Timer(60, process.kill)
    limit.start()
    assert process.stdout
    line = process.stdout.readline()
    limit.cancel()
    try:
        yield json.loads(line)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            status = process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert status == 0, f"Ctrl-C does not close {name} cleanly"


def serve_script(page: Page, address: str, path: str, *, words: int, kind: str = "text/javascript") -> None:
    """Tests/Mutations names a copy of the repository, in which a script or a page lacks something: it takes the place of the program's own, behind the
    first lines of that, which have the words."""
    repository = os.environ.get("HANDSHAKE_REPOSITORY")
    if not repository:
        return
    own = (Path(repository) / path).read_text()

    def script(route: Route) -> None:
        route.fulfill(content_type=kind, body="\n".join([*route.fetch().text().split("\n")[:words], own]))

    page.context.route(address, script)
