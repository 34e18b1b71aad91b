"""Waits for what a running command says or does."""

import time
from collections.abc import Callable

from command import Running
from receiver import Receiver


def until(what: Callable[[], bool], why: Callable[[], object], seconds: float = 40) -> None:
    """Waits until this is so; if it never is, `why` tells what was instead."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, why()
        time.sleep(0.02)


def said(running: Running, text: str, seconds: float = 40) -> None:
    """Waits until standard error has this."""
    until(lambda: text in "".join(running.lines["stderr"]) or not running.is_running(), lambda: f"not said: {text}; {running.lines}", seconds)
    assert text in "".join(running.lines["stderr"]) or text in running.finish().stderr, f"not said: {text}; {running.lines}"


def told(running: Running, text: str, device: Receiver, place: tuple[float, float]) -> None:
    """Waits for the same while the device stays somewhere: positions before the command listens are lost."""
    def stays() -> bool:
        device.stay(place, 1)
        return text in "".join(running.lines["stderr"])
    until(stays, lambda: f"not said: {text}; {running.lines}")
