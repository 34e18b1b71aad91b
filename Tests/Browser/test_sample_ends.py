"""How the programs of the samples end when they cannot run."""

import os
import socket
import subprocess

import pytest

from sample import program


@pytest.mark.parametrize("name", ["WeatherMyWay", "GroceryExpress", "ConnectedAccounts", "CircleServer"])
def test_a_sample_whose_port_is_taken_says_so_and_what_to_do(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        serve = ["--serve"] if name == "WeatherMyWay" else []
        done = subprocess.run([program(name), *serve, "--port", port], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done
    assert done.stderr == f"{name}: Port {port} is used by another program. Choose another one with --port.\n"


def test_a_circle_without_its_registration_is_a_wrong_command_line() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CIRCLE_")}
    done = subprocess.run([program("CircleServer"), "--address", "https://circle.example/circle"], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 64, done
    assert done.stderr == "CircleServer: --address needs CIRCLE_CLIENT_ID and CIRCLE_CLIENT_SECRET\n"
