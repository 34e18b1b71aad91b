"""BlueZ without a radio, for tests: private buses, the air simulator on them, and a relay between two of them.

    with bluez.air() as air:                          # one machine
        run(command, env=air.environment)
        air.sight("D0:00:00:00:02:F7", -61, data)
        assert air.on_air() == [data]

    with bluez.room() as (one, other):                # two machines that hear each other
        run(command, env=one.environment); run(command, env=other.environment)

The simulator and the relay need python3-dbus and python3-gi, which only Debian's /usr/bin/python3 sees: they run as its
children, whatever Python runs the tests.
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

FOLDER = pathlib.Path(__file__).parent
PYTHON = "/usr/bin/python3"
IBEACON = bytes.fromhex("1aff4c0002153ee761a0f73711e3a3ac0800200c9a66000102f7c5")


def missing(*tools):
    """Why this cannot run here, by name; None when it can."""
    for tool in ("dbus-daemon", "gdbus", *tools):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if subprocess.run([PYTHON, "-c", "import dbus, gi"], capture_output=True).returncode != 0:
        return "python3-dbus or python3-gi is not installed for " + PYTHON
    return None


@contextlib.contextmanager
def child(arguments, environment=None):
    """A program that prints one line when it is ready; it ends with the block. Gives the line."""
    process = subprocess.Popen(
        arguments, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"{arguments[0]} did not start")
        yield line
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextlib.contextmanager
def bus():
    """A message bus of its own. Gives its address."""
    with tempfile.TemporaryDirectory() as folder:
        with child(["dbus-daemon", "--session", f"--address=unix:dir={folder}", "--nofork", "--print-address=1"]) as address:
            yield address


class Air:
    """The simulator on one bus: what a test says and asks of the air around one machine."""

    def __init__(self, address):
        self.address = address
        # One bus serves as the session's and the system's; nothing of the machine's own is reached.
        self.environment = {"DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address}
        # The commands that watch here: what they said tells why something is not on the air.
        self.watches = []

    def watched(self, watch):
        """Remembers a command that watches here, and gives it."""
        self.watches.append(watch)
        return watch

    def call(self, method, *arguments):
        """Calls a method of org.example.Air1 with arguments in GVariant text. Gives what gdbus prints."""
        command = ["gdbus", "call", "--address", self.address, "--dest", "org.bluez", "--object-path", "/"]
        # After "--", as a signal strength looks like an option.
        command += ["--method", "org.example.Air1." + method, "--", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
        if done.returncode != 0:
            raise RuntimeError(f"{method}: {done.stderr.strip()}")
        return done.stdout

    def sight(self, address, rssi, data):
        """One packet comes in."""
        self.call("Sight", address, rssi, "[" + ", ".join(f"byte 0x{byte:02x}" for byte in data) + "]")

    def lose(self, address):
        self.call("Lose", address)

    def power(self, on):
        self.call("Power", str(on).lower())

    def plug(self, present):
        self.call("Plug", str(present).lower())

    def release(self):
        self.call("Release")

    def behave(self, name, value):
        self.call("Behave", name, f"<{value!r}>" if isinstance(value, str) else f"<{str(value).lower()}>")

    def on_air(self):
        """What is sent now, one bytes for each advertisement."""
        return [data for _, data in self.transmissions()]

    def transmissions(self):
        """What is sent now: pairs of the address and the data."""
        return [(address, bytes.fromhex(data))
                for address, data in re.findall(r"'([0-9A-F:]{17}) ([0-9a-f]*)'", self.call("TransmissionsText"))]

    def changes(self):
        """When advertisements were registered and unregistered: pairs of the word and milliseconds."""
        return [(what, int(when)) for what, when in re.findall(r"\('(\w+)', (?:uint64 )?(\d+)\)", self.call("Changes"))]

    def is_searching(self):
        return "true" in self.call("Searching")

    def monitors(self):
        return int(re.search(r"uint32 (\d+)", self.call("Monitors")).group(1))

    def wait(self, condition, seconds=60):
        """Waits until the condition holds of this air."""
        end = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > end:
                said = [line for watch in self.watches for lines in watch.lines.values() for line in lines[-20:]]
                raise TimeoutError("the air did not become what was expected; on air: "
                                   + ", ".join(data.hex() for data in self.on_air())
                                   + f"\nchanges: {self.changes()}\nthe watches said:\n" + "".join(said))
            time.sleep(0.05)


@contextlib.contextmanager
def simulator(address, **behaviour):
    """The simulator on a bus that is there. Behaviour as in air.py, with underscores for hyphens. Gives its Air."""
    options = [f"--{name.replace('_', '-')}={value}" for name, value in behaviour.items()]
    with child([PYTHON, str(FOLDER / "air.py"), *options], {"DBUS_SYSTEM_BUS_ADDRESS": address}):
        yield Air(address)


@contextlib.contextmanager
def air(**behaviour):
    """A bus and the simulator on it: one machine with one adapter. Gives its Air."""
    with bus() as address, simulator(address, **behaviour) as simulated:
        yield simulated


@contextlib.contextmanager
def relay(one, other, rssi=-61, interval=0.1, lifetime=3):
    """Lets two airs hear each other, at a signal strength."""
    options = ["--rssi", str(rssi), "--interval", str(interval), "--lifetime", str(lifetime)]
    with child([PYTHON, str(FOLDER / "relay.py"), one.address, other.address, *options]):
        yield


@contextlib.contextmanager
def room(rssi=-61, **behaviour):
    """Two machines that hear each other. Gives their two Airs."""
    with air(**behaviour) as one, air(**behaviour) as other, relay(one, other, rssi):
        yield one, other
