"""Gives a command another time, or has its requests to a server on this machine pass by a test (preloaded.c)."""

import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

COMPILER = shutil.which("clang") or shutil.which("cc")


def _library(folder: Path) -> Path:
    if COMPILER is None:
        pytest.skip("clang or cc is not installed")
    library = folder / "preloaded.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, Path(__file__).with_suffix(".c"), "-ldl"], check=True, timeout=60)
    return library


def later(seconds: int, folder: Path) -> dict[str, str]:
    """The environment of a command whose clock is so far ahead. Its pauses stay as long as they are."""
    return {"LD_PRELOAD": str(_library(folder)), "PRELOADED_SECONDS": str(seconds)}


class Passage:
    """What a command sends to a server passes here. Gives the lines of its requests, each as `GET /path`."""

    def __init__(self, port: int, folder: Path) -> None:
        self.target, self.streams = port, list[bytearray]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.environment = {"LD_PRELOAD": str(_library(folder)), "PRELOADED_PORTS": f"{port}:{self.listener.getsockname()[1]}"}
        threading.Thread(target=self._accept, daemon=True).start()

    def requests(self) -> list[str]:
        return [f"{method.decode()} {path.decode()}" for stream in self.streams
                for method, path in re.findall(rb"(?:^|\n|\})(GET|POST|PUT|DELETE) (/\S*) HTTP/1\.1\r\n", bytes(stream))]

    def sent(self) -> bytes:
        """All that the command has sent."""
        return b"".join(map(bytes, self.streams))

    def forget(self) -> None:
        self.streams = []

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                self.streams.append(bytearray())
                threading.Thread(target=self._carry, args=(client, server, self.streams[-1]), daemon=True).start()
                threading.Thread(target=self._carry, args=(server, client, None), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, target: socket.socket, seen: bytearray | None) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if seen is not None:
                    seen += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def passage(port: int, folder: Path) -> Iterator[Passage]:
    one = Passage(port, folder)
    try:
        yield one
    finally:
        one.listener.close()
