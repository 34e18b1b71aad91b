"""Where secrets must not be: arguments, environments of child processes, output, files. (Every test looks again at its end.)"""

import json
import os
import stat
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

import leaks
from command import Handshake, Login
from strangers import Stranger, http, wait_for
from terminal import Terminal


def test_the_search_itself_finds_what_it_looks_for(tmp_path: Path) -> None:
    secret = "canary-" + "5" * 32
    for name, spelling in enumerate(sorted(leaks.spellings(secret))):
        (tmp_path / str(name)).write_bytes(b"some text " + spelling + b" more text")
    assert len(leaks.found_in_folder(tmp_path, [secret])) == len(leaks.spellings(secret))
    assert leaks.found_in(b"nothing here", [secret]) == []


def test_the_client_secret_is_in_no_argument_and_no_environment(handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("web", django, "--scope", "openid", client="web", secret=django.secret("web"))
    seen = login.visible_to_others()
    assert b"--client-id" in seen, "the look at /proc found nothing"
    assert leaks.found_in(seen, [django.secret("web")]) == []
    login.complete(django).ok()


def fake_browser(folder: Path) -> Path:
    """Programs by the names under which a desktop's browser is opened; they write down how they were called."""
    folder.mkdir()
    script = f"""#!{sys.executable}
import json, os, sys
found = json.dumps({{"arguments": sys.argv[1:], "environment": dict(os.environ)}})
with open({str(folder / "part")!r}, "w") as file:
    file.write(found)
os.rename({str(folder / "part")!r}, {str(folder / "called")!r})
"""
    for name in ("xdg-open", "sensible-browser", "x-www-browser", "gio", "browser"):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


def test_the_browser_gets_the_url_and_no_secret(handshake: Handshake, django: Stranger, tmp_path: Path) -> None:
    folder = fake_browser(tmp_path / "bin")
    running = handshake.start("login", "web", "--issuer", django.issuer, "--client-id", "web", "--client-secret-file", "-",
                              "--scope", "openid", "--browser", "system", "--json", "--timeout", "20",
                              stdin=django.secret("web"), PATH=f"{folder}:{os.environ['PATH']}",
                              BROWSER=str(folder / "browser"), DISPLAY=":0")
    wait_for(folder / "called")
    called = json.loads((folder / "called").read_text())
    url = next(argument for argument in called["arguments"] if argument.startswith("http"))
    assert leaks.found_in(json.dumps(called).encode(), [django.secret("web")]) == []
    opened = Login.__new__(Login)
    opened.url = url
    answer = opened.approve(django)
    assert opened.deliver(urlencode(answer)).status_code == 200
    assert running.finish().ok().json["account"] == "web"


def test_a_waiting_sign_in_keeps_its_verifier_to_itself(handshake: Handshake, django: Stranger) -> None:
    login = handshake.login("mine", django, "--scope", "openid")
    answer = login.approve(django)
    held = {str(file): file.read_bytes() for file in handshake.home.rglob("*") if file.is_file()}
    login.deliver(urlencode(answer))
    login.finish().ok()
    verifier = django.secrets()
    assert {name: hits for name, data in held.items() if (hits := leaks.found_in(data, verifier))} == {}


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o666])
def test_a_vault_that_others_can_read_is_refused_or_mended(handshake: Handshake, django: Stranger, mode: int) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    files = [f for f in handshake.home.rglob("*") if f.is_file()]
    for file in files:
        file.chmod(mode)
    done = handshake.run("token", "mine")
    mended = all(stat.S_IMODE(f.stat().st_mode) == 0o600 for f in files if f.exists())
    assert done.status == 7 or (done.status == 0 and mended), f"status {done.status}, files left open: {not mended}"


def test_a_link_in_place_of_a_record_is_refused(handshake: Handshake, django: Stranger, tmp_path: Path) -> None:
    handshake.signed_in("mine", django, "--scope", "openid")
    for number, file in enumerate([f for f in handshake.home.rglob("*") if f.is_file()]):
        elsewhere = tmp_path / f"moved-{number}"
        file.rename(elsewhere)
        file.symlink_to(elsewhere)
    assert handshake.run("token", "mine").status == 7


@pytest.mark.parametrize("arguments", [["token", "mine"], ["token", "mine", "--json"], ["headers", "mine"]], ids=" ".join)
def test_a_token_is_shown_on_a_terminal_after_a_yes_only(handshake: Handshake, mcp: Stranger, arguments: list[str]) -> None:
    login = handshake.begin_login("mine", "--resource", mcp.facts["resource"])
    redirect = http().get(login.url, allow_redirects=False, timeout=10).headers["location"]
    assert http().get(redirect, timeout=10).status_code == 200
    login.finish().ok()
    token = handshake.token("mine")
    for answer, shown, status in (("no", False, 2), ("", False, 2), ("yes", True, 0)):
        terminal = Terminal([str(handshake.path), *arguments], handshake.environment, columns=2000)
        terminal.expect("Show the access token on this terminal")
        assert token not in terminal.text
        terminal.type(answer + "\n")
        assert terminal.finish() == status, terminal.text
        assert (token in terminal.text) == shown, terminal.text
    terminal = Terminal([str(handshake.path), *arguments, "--show"], handshake.environment, columns=2000)
    assert terminal.finish() == 0 and token in terminal.text
