"""The program of the article *First sign-in*: a sign-in at the sandbox, and the account found again at the next start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import formlogin
from stand_in import StandIn
from strangers import REPOSITORY, http, wait_for

PROGRAM = REPOSITORY / ".build/debug/FirstSignIn"


def opener(folder: Path) -> Path:
    """A browser that writes down the page that it is to show."""
    browser = folder / "browser"
    browser.write_text(f"#!{sys.executable}\nimport os, sys\nopen('part', 'w').write(sys.argv[1])\nos.rename('part', 'page')\n")
    browser.chmod(0o755)
    return browser


@pytest.mark.skipif(not PROGRAM.exists(), reason="FirstSignIn is not built: run `swift build`")
def test_the_first_program_signs_in_once_and_finds_the_account_at_the_next_start(genome: StandIn, tmp_path: Path) -> None:
    user = next(user for user in genome.other["users"] if user["name"].startswith("ada@"))
    environment = {**os.environ, "BROWSER": str(opener(tmp_path))}
    arguments = [str(PROGRAM), genome.other["origin"]]
    first = subprocess.Popen(arguments, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(tmp_path / "page")
        redirect = formlogin.walk((tmp_path / "page").read_text(), user["name"], user["password"])
        assert http().get(redirect, timeout=10).status_code == 200
        printed, problem = first.communicate(timeout=30)
        assert (first.returncode, printed) == (0, "Signed in as Ada Example\n"), problem
    finally:
        first.kill()
        first.wait()
    (tmp_path / "page").unlink()
    again = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30)
    assert (again.returncode, again.stdout) == (0, "Signed in as Ada Example\n"), again.stderr
    assert not (tmp_path / "page").exists(), "the second start opened a browser"
