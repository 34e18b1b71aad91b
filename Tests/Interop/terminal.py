"""The command on a real terminal: a pseudo-terminal with a size, a keyboard and a screen."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Mapping

CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """A command whose three streams are one terminal. All that was printed is kept as it came."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], columns: int = 80, rows: int = 24) -> None:
        self.columns, self.output = columns, b""
        self.status: int | None = None
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                for number in range(3):
                    os.dup2(slave, number)
                os.closerange(3, 256)
                os.execve(arguments[0], arguments, dict(environment))
            finally:
                os._exit(127)
        self.slave = slave  # kept, so that the terminal's settings can be seen when the command is gone

    # The screen

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        self.output += os.read(self.master, 65_536)
        return True

    @property
    def text(self) -> str:
        return self.output.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, seen: Callable[[str], bool], what: str, seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not seen(self.text):
            assert time.monotonic() < end, f"{what} did not come; the screen: {self.text!r}"
            if not self._read(0.05) and self._has_ended() and not self._read(0.1):
                raise AssertionError(f"{what} did not come before the end ({self.status}); the screen: {self.text!r}")

    def expect(self, words: str, times: int = 1) -> None:
        """Returns when the words have been printed so many times."""
        self.wait_for(lambda text: text.count(words) >= times, repr(words))

    def rows(self) -> list[str]:
        """What the screen shows, without blank rows at the end: carriage returns, erased text, moves up and wrapping are obeyed."""
        lines, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[^\x1b]|\x1b", self.output.decode(errors="replace")):
            if part == "\x1b[K":
                lines[row] = lines[row][:column]
            elif part == "\x1b[J":
                lines[row:] = [lines[row][:column]]
            elif up := re.fullmatch(r"\x1b\[(\d+)A", part):
                row = max(0, row - int(up[1]))
            elif part == "\r":
                column = 0
            elif part == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif part != "\x07":
                assert not part.startswith("\x1b"), f"unexpected: {part!r}"
                if column == self.columns:
                    row, column = row + 1, 0
                    lines += [""] * (row + 1 - len(lines))
                lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + 1:]
                column += 1
        while lines and not lines[-1].strip():
            lines.pop()
        return lines

    def resize(self, columns: int, rows: int) -> None:
        """As when a user drags the window's corner."""
        self.columns = columns
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # The keyboard

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def echoes(self) -> bool:
        """Whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    # The end

    def _has_ended(self) -> bool:
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def finish(self, seconds: float = 30) -> int:
        """The exit status; all that the command has printed until then is on the screen."""
        end = time.monotonic() + seconds
        while not self._has_ended():
            assert time.monotonic() < end, f"still running after {seconds} s; the screen: {self.text!r}"
            self._read(0.02)
        while self._read(0.05):
            pass
        assert self.status is not None
        return self.status

    def close(self) -> None:
        if not self._has_ended():
            os.kill(self.pid, signal.SIGKILL)
            _, status = os.waitpid(self.pid, 0)
            self.status = os.waitstatus_to_exitcode(status)
        for descriptor in (self.master, self.slave):
            os.close(descriptor)
