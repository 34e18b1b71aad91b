"""The user unit of the Debian package: as systemd reads it, and what it runs through sleep and with adapters that come and go."""

import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import bluez
from command import Handshake, Running
from strangers import REPOSITORY
from test_nearby_radio import ZOE, Person, people  # noqa: F401 (fixtures)

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")


UNIT = REPOSITORY / "Scripts/Packaging/handshake-nearby.service"


def value(name: str) -> str:
    [line] = [line for line in UNIT.read_text().splitlines() if line.startswith(name + "=")]
    return line.removeprefix(name + "=")


def command(handshake: Handshake) -> list[str]:
    """What the unit runs, with the command under test, and as its documentation says how to send."""
    program, *words = shlex.split(value("ExecStart"))
    assert program == "/usr/bin/handshake"
    return [str(handshake.path), *words, "--advertise", "rolling"]


def test_the_unit_is_one_that_systemd_reads(handshake: Handshake, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    path = tmp_path / UNIT.name
    path.write_text(UNIT.read_text().replace("/usr/bin/handshake", str(handshake.path)))
    done = subprocess.run(["systemd-analyze", "--user", "--man=no", "verify", str(path)], capture_output=True, text=True, timeout=60,
                          env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)})
    assert done.returncode == 0 and str(path) not in done.stderr, done.stderr


def test_what_it_runs_goes_on_after_sleep_and_changes_of_the_adapter(people: Callable[[int, bluez.Air], Person]) -> None:  # noqa: F811
    with bluez.air() as air:
        ada = people(759, air)
        # While no friend has her keys, nothing is sent.
        ada.command.run("nearby", "share").ok()
        running = Running(command(ada.command), ada.command.environment, None)
        try:
            air.wait(lambda air: air.on_air() and (air.is_searching() or air.monitors() > 0))
            for away, back in ((lambda: air.power(False), lambda: air.power(True)),
                               (lambda: air.plug(False), lambda: air.plug(True)),
                               # A machine that sleeps: the process stands still, and the adapter has lost everything meanwhile.
                               (lambda: (running.process.send_signal(signal.SIGSTOP), air.plug(False)),
                                lambda: (air.plug(True), running.process.send_signal(signal.SIGCONT)))):
                away()
                air.wait(lambda air: not air.on_air())
                back()
                air.wait(lambda air: air.on_air() and (air.is_searching() or air.monitors() > 0), seconds=40)
                assert running.is_running()
            # It still notices people.
            end = time.monotonic() + 40
            while not any(entry["name"] == "Zoë Ångström" for entry in ada.log()):
                assert time.monotonic() < end, running.lines
                air.sight("D0:00:00:00:FF:FF", -61, ZOE)
                time.sleep(0.1)
            running.process.send_signal(signal.SIGTERM)
            finished = running.finish()
            assert str(finished.status) in value("SuccessExitStatus").split()
            # Who was near is on standard output alone, which does not reach the journal: what is there outlives all forgetting.
            assert "Zoë Ångström" in finished.stdout and value("StandardOutput") == "null"
            assert not [text for text in ("Zoë", "65535", "Ada", "759") if text in finished.stderr], finished.stderr
            air.wait(lambda air: not air.on_air())
        finally:
            running.end()
