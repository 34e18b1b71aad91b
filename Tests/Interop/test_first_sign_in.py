"""The program of the article *First sign-in*: a sign-in at the sandbox, the account found again at the next start, and a new
sign-in when the sandbox has forgotten it."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import formlogin
from stand_in import StandIn
from strangers import REPOSITORY, http
from terminal import Terminal

PROGRAM = REPOSITORY / ".build/debug/FirstSignIn"


def start(folder: Path, origin: str) -> Terminal:
    command = f"cd {shlex.quote(str(folder))} && HOME=$PWD/home exec {shlex.quote(str(PROGRAM))} {origin}"
    return Terminal(["/bin/sh", "-c", command], os.environ, columns=2000)


def answer(running: Terminal, user: tuple[str, str], *, consent: bool = True) -> None:
    running.wait_for(lambda text: re.search(r"browser: http\S+\n", text) is not None, "an address")
    found = re.search(r"browser: (http\S+)\n", running.text)
    assert found
    redirect = formlogin.walk(found[1], *user, consent=consent)
    assert http().get(redirect, timeout=10).status_code == 200


def sign_in(running: Terminal, user: tuple[str, str]) -> None:
    answer(running, user)
    running.expect("Signed in as Ada Example\n")
    assert running.finish() == 0


def ada(genome: StandIn) -> tuple[str, str]:
    return next((user["name"], user["password"]) for user in genome.other["users"] if user["name"].startswith("ada@"))


@pytest.mark.skipif(not PROGRAM.exists(), reason="FirstSignIn is not built: run `swift build`")
def test_a_user_who_declines_is_told_so(genome: StandIn, tmp_path: Path) -> None:
    running = start(tmp_path, genome.other["origin"])
    answer(running, ada(genome), consent=False)
    running.expect("The user declined access at the service.\n")
    assert running.finish() == 1


@pytest.mark.skipif(not PROGRAM.exists(), reason="FirstSignIn is not built: run `swift build`")
def test_a_wrong_address_is_one_line_that_says_so(tmp_path: Path) -> None:
    done = subprocess.run([PROGRAM, "not an address"], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1 and "OAuthError" not in done.stderr, done.stderr


@pytest.mark.skipif(not PROGRAM.exists(), reason="FirstSignIn is not built: run `swift build`")
@pytest.mark.parametrize(("arguments", "status"), [(["--help"], 0), (["-h"], 0), (["--port"], 64), (["http://127.0.0.1:1", "shop"], 64)])
def test_help_is_printed_and_what_is_not_known_is_refused(tmp_path: Path, arguments: list[str], status: int) -> None:
    done = subprocess.run([PROGRAM, *arguments], cwd=tmp_path, env={"HOME": str(tmp_path)}, capture_output=True, text=True, timeout=30)
    assert done.returncode == status and list(tmp_path.iterdir()) == []
    usage, nothing = (done.stderr, done.stdout) if status else (done.stdout, done.stderr)
    assert usage.startswith("Usage: FirstSignIn") and nothing == ""


@pytest.mark.skipif(not PROGRAM.exists(), reason="FirstSignIn is not built: run `swift build`")
def test_the_address_is_printed_while_the_program_waits_also_into_a_pipe(genome: StandIn, tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path / "home")}
    with subprocess.Popen(
        [PROGRAM, genome.other["origin"]], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout and running.stdout.readline().startswith("Open this address in a browser: http")
        running.terminate()
    key = tmp_path / "home/.config/first-sign-in/key"
    assert key.exists() and not list((tmp_path / "first-sign-in").rglob("key"))


@pytest.mark.skipif(not PROGRAM.exists(), reason="FirstSignIn is not built: run `swift build`")
def test_the_first_program_signs_in_once_and_again_when_its_session_has_ended(genome: StandIn, tmp_path: Path) -> None:
    user, origin = ada(genome), genome.other["origin"]
    sign_in(start(tmp_path, origin), user)
    again = start(tmp_path, origin)
    assert again.finish() == 0
    assert again.text == "Signed in as Ada Example\n"
    for what in ("expire-access-tokens", "revoke-refresh-tokens"):
        assert http().post(f"{origin}/_sandbox/{what}", timeout=10).status_code < 300
    sign_in(start(tmp_path, origin), user)
