"""The page of `nearby open`, and programs on this machine that are not its browser."""

import os
import resource
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from command import Handshake, Running
from strangers import http
from waiting import until


@dataclass
class Companion:
    running: Running
    link: str

    @property
    def origin(self) -> str:
        return self.link.split("/?")[0]

    def connect(self) -> socket.socket:
        where = urlsplit(self.link)
        return socket.create_connection((where.hostname, where.port), timeout=40)

    def descriptors(self) -> set[int]:
        return {int(path.name) for path in Path(f"/proc/{self.running.process.pid}/fd").iterdir()}


@pytest.fixture
def companion(handshake: Handshake) -> Iterator[Companion]:
    # Root's programs are asked whose a connection is only if `sudo` has started them.
    handshake.environment["SUDO_UID"] = str(os.getuid())
    running = handshake.start("nearby", "open", "--me", "1", "--browser", "print", "--alerts", "none")
    yield Companion(running, running.line())
    handshake.end()


def ask(connection: socket.socket) -> None:
    connection.sendall(b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n")


def test_the_key_stays_while_no_descriptor_is_left_to_see_whose_a_connection_is(companion: Companion) -> None:
    pid, key = companion.running.process.pid, companion.link.split("key=")[1]
    content = f'{{"key":"{key}"}}'
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    program = companion.connect()
    ask(program)
    assert program.recv(4096).startswith(b"HTTP/1.1 ")
    taken = companion.descriptors()
    # A new one gets the lowest number that is free.
    limit = min(set(range(max(taken) + 2)) - taken)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limits[1]))
    # Its end is closed before the command reads: it is no user's.
    os.kill(pid, signal.SIGSTOP)
    program.sendall(f"POST /session HTTP/1.1\r\nHost: {urlsplit(companion.link).netloc}\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n{content}".encode())
    program.close()
    os.kill(pid, signal.SIGCONT)
    until(lambda: len(companion.descriptors()) < len(taken), lambda: "the connection is still open")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    answer = http().post(f"{companion.origin}/session", json={"key": key}, timeout=10)
    assert answer.status_code == 200, "another program has spent the key"


def test_connections_do_not_take_all_descriptors(companion: Companion) -> None:
    with ExitStack() as others:
        first, *_, last = [others.enter_context(companion.connect()) for _ in range(100)]
        ask(last)
        for _ in range(50):
            ask(first)
            assert first.recv(4096).startswith(b"HTTP/1.1 ")
        last.setblocking(False)
        with pytest.raises(BlockingIOError):
            last.recv(1)
