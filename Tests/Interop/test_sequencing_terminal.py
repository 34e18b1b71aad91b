"""`handshake sequencing …` and the demo in front of a person: progress, questions, passwords, Ctrl-C, narrow terminals."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

import formlogin
from command import Handshake, dict_of
from connect_pages import Visitor
from stand_in import StandIn
from strangers import http
from terminal import CTRL_C, CTRL_D, Terminal

Open = Callable[..., Terminal]
PASSWORD = "canary-0c9b8a7d6e5f4a3b2c1d0e9f8a7b6c5d"
TEN_MEGABYTES = str(1_000_000_000 + 10_000)
QUESTION = "Which file?"


@pytest.fixture
def open_terminal() -> Iterator[Open]:
    """Starts the command on a terminal of its own."""
    opened = []

    def start(command: Handshake, *arguments: str, columns: int = 80, **environment: str) -> Terminal:
        terminal = Terminal([str(command.path), *arguments], command.environment | {"TERM": "xterm"} | environment, columns)
        opened.append(terminal)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()
        assert PASSWORD.encode() not in terminal.output, "a password was shown"


# Progress

def progress(terminal: Terminal) -> list[str]:
    """Each line of progress, as it was drawn."""
    return [line for line in re.findall(r"\r\x1b\[K([^\r\n\x1b]+)", terminal.output.decode()) if "MB" in line]


@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_a_download_shows_how_far_it_is_and_leaves_one_line(
        ada: Handshake, open_terminal: Open, tmp_path: Path, columns: int) -> None:
    target = tmp_path / "r.pdf"
    terminal = open_terminal(ada, "sequencing", "report-file", TEN_MEGABYTES, "-o", str(target), columns=columns)
    assert terminal.finish() == 0 and target.stat().st_size == 10_240_000
    drawn = progress(terminal)
    assert len(drawn) > 3 and drawn[-1].endswith("10.2 of 10.2 MB"), drawn[-3:]
    assert len({len(line) for line in drawn}) == 1, "the line jumps"
    assert max(map(len, drawn)) < columns, "a line that reaches the edge wraps, and is not erased any more"
    assert ("[#" in drawn[-1]) == (columns >= 40)
    assert "".join(terminal.rows()) == f"Saved as “{target}”.", "the progress is gone in the end"


def test_a_line_is_drawn_only_when_it_changes(ada: Handshake, open_terminal: Open, tmp_path: Path) -> None:
    terminal = open_terminal(ada, "sequencing", "report-file", TEN_MEGABYTES, "-o", str(tmp_path / "r.pdf"))
    assert terminal.finish() == 0
    drawn = progress(terminal)
    assert 3 < len(drawn) < 210
    assert all(a != b for a, b in zip(drawn, drawn[1:]))


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": "dumb", "NO_COLOR": "1"}], ids=["dumb", "dumb, no colour"])
def test_a_dumb_terminal_gets_plain_lines(
        ada: Handshake, open_terminal: Open, tmp_path: Path, environment: dict[str, str]) -> None:
    terminal = open_terminal(ada, "sequencing", "report-file", TEN_MEGABYTES, "-o", str(tmp_path / "r.pdf"), **environment)
    assert terminal.finish() == 0
    assert "\x1b" not in terminal.text and "MB" not in terminal.text and terminal.text.count("\n") == 1


def test_no_colour_is_ever_used(ada: Handshake, open_terminal: Open) -> None:
    for environment in ({}, {"NO_COLOR": "1"}):
        terminal = open_terminal(ada, "sequencing", "chain", "Chain902", "--file", "227001", **environment)
        assert terminal.finish() == 0
        assert not re.search(r"\x1b\[[0-9;]*m", terminal.text)


def test_quiet_means_no_progress(ada: Handshake, open_terminal: Open, tmp_path: Path) -> None:
    terminal = open_terminal(ada, "sequencing", "report-file", TEN_MEGABYTES, "-o", str(tmp_path / "r.pdf"), "--quiet")
    assert terminal.finish() == 0 and terminal.text == ""


@pytest.mark.parametrize("columns", [20, 80])
def test_a_run_shows_how_many_chains_have_ended(ada: Handshake, open_terminal: Open, columns: int) -> None:
    terminal = open_terminal(ada, "sequencing", "chains", "Chain8", "Chain902", "--file", "227001", columns=columns)
    terminal.expect("1 of 2 ended")
    assert terminal.finish() == 0
    assert terminal.rows()[0] == "Chain8: No" and "ended" not in "".join(terminal.rows())


def test_ctrl_c_takes_the_progress_away(ada: Handshake, open_terminal: Open, tmp_path: Path, genome: StandIn) -> None:
    terminal = open_terminal(ada, "sequencing", "chain", "Chain906", "--file", "227001")
    terminal.expect("0 of 1 ended")
    terminal.type(CTRL_C)
    assert terminal.finish(10) == 130
    shown = "".join(terminal.rows())
    assert "ended" not in shown and "continues at Sequencing.com." in shown


# Which file?

def test_a_chain_asks_which_file_until_the_answer_is_one(ada: Handshake, open_terminal: Open, genome: StandIn) -> None:
    terminal = open_terminal(ada, "sequencing", "chain", "Chain88")
    terminal.expect(QUESTION)
    assert "family.vcf.gz" in terminal.text and "227002" in terminal.text and "sample-ada" not in terminal.text
    for times, wrong in enumerate(["0", "no such file", "999999", "-1", "١"], 2):
        terminal.type(wrong + "\r")
        terminal.expect(QUESTION, times)
    assert genome.requests("/v2/StartApp") == []
    terminal.type("1\r")
    assert terminal.finish() == 0
    assert "Vitamin D: Issue found" in terminal.text


@pytest.mark.parametrize("answer", ["227001", " 1 "])
def test_a_file_is_chosen_by_its_number_or_its_identifier(ada: Handshake, open_terminal: Open, answer: str) -> None:
    terminal = open_terminal(ada, "sequencing", "chain", "Chain88")
    terminal.expect(QUESTION)
    terminal.type(answer + "\r")
    assert terminal.finish() == 0 and "Vitamin D: Issue found" in terminal.text


def test_five_thousand_files_are_found_by_words(handshake: Handshake, genome: StandIn, open_terminal: Open) -> None:
    genome.sign_in(handshake, "herman")
    terminal = open_terminal(handshake, "sequencing", "chain", "Chain88", columns=100)
    terminal.expect(QUESTION)
    assert len(terminal.text.splitlines()) < 40 and "4970 more" in terminal.text
    terminal.type("aurora-0005\r")
    terminal.expect(QUESTION, 2)
    listed = terminal.text.split(QUESTION)[1]
    assert "aurora-0005" in listed and "borealis" not in listed
    number = re.search(r"(\d+) +aurora-0005", listed)
    assert number
    terminal.type(number[1] + "\r")
    assert terminal.finish() == 0


def test_ctrl_c_at_the_question_is_130_and_the_end_of_input_is_2(ada: Handshake, open_terminal: Open, genome: StandIn) -> None:
    for key, status in ((CTRL_C, 130), (CTRL_D, 2)):
        terminal = open_terminal(ada, "sequencing", "chain", "Chain88")
        terminal.expect(QUESTION)
        terminal.type(key)
        assert terminal.finish(5) == status
    assert "sign-in" not in terminal.text and genome.requests("/v2/StartApp") == []


def test_the_question_fits_a_narrow_terminal(ada: Handshake, open_terminal: Open) -> None:
    terminal = open_terminal(ada, "sequencing", "chain", "Chain88", columns=20)
    terminal.expect(QUESTION)
    rows = terminal.text.splitlines()
    assert any(row.split() == ["2", "family.vcf.gz"] for row in rows), "the name and what tells it apart are two rows"
    terminal.type(CTRL_C)
    assert terminal.finish(5) == 130


def test_names_in_the_question_cannot_steer_the_terminal(ada: Handshake, open_terminal: Open, genome: StandIn) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\r\u202e.vcf"
    genome.answer("/DataSourceList", [{"Id": f"{n}", "Name": evil, "FileCategory": "Uploaded", "FileType": evil} for n in (1, 2)])
    terminal = open_terminal(ada, "sequencing", "chain", "Chain88")
    terminal.expect(QUESTION)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", terminal.text)
    terminal.type(CTRL_C)
    assert terminal.finish(5) == 130


def test_with_standard_error_elsewhere_nothing_is_asked(ada: Handshake, open_terminal: Open, tmp_path: Path) -> None:
    script = tmp_path / "ask"
    script.write_text(f"#!/bin/sh\nexec '{ada.path}' sequencing chain Chain88 2>'{tmp_path}/errors'\n")
    script.chmod(0o755)
    terminal = Terminal([str(script)], ada.environment)
    assert terminal.finish() == 64 and "--file" in (tmp_path / "errors").read_text()
    terminal.close()


# Passwords

def until_hidden(terminal: Terminal) -> None:
    terminal.expect("Password there")
    terminal.wait_for(lambda _: not terminal.echoes(), "a terminal without echo")


@pytest.mark.parametrize("columns", [20, 80])
def test_a_password_is_not_shown_and_the_terminal_is_as_before(ada: Handshake, open_terminal: Open, columns: int) -> None:
    terminal = open_terminal(ada, "sequencing", "import", "23andme", columns=columns)
    terminal.expect("Login at 23andMe:")
    assert terminal.echoes()
    terminal.type("question\r")
    until_hidden(terminal)
    terminal.type(PASSWORD + "\r")
    terminal.expect("First pet?")
    assert terminal.echoes(), "the answer is no secret"
    terminal.type("\r")
    terminal.expect("First pet?", 2)
    terminal.type("Turing\r")
    assert terminal.finish() == 0 and terminal.echoes()
    assert "question" in terminal.text and "Turing" in terminal.text and PASSWORD not in terminal.text


@pytest.mark.parametrize("key", [CTRL_C, CTRL_C * 2, CTRL_D])
def test_the_terminal_shows_again_what_is_typed_after_a_password_that_was_not_given(
        ada: Handshake, open_terminal: Open, key: str) -> None:
    terminal = open_terminal(ada, "sequencing", "import", "ancestry")
    terminal.expect("Login at Ancestry:")
    terminal.type("started\r")
    until_hidden(terminal)
    terminal.type(key)
    assert terminal.finish(5) == (2 if key == CTRL_D else 130)
    assert terminal.echoes()


def test_half_a_password_and_ctrl_c_leaves_the_terminal_as_it_was(ada: Handshake, open_terminal: Open, genome: StandIn) -> None:
    terminal = open_terminal(ada, "sequencing", "import", "23andme")
    terminal.expect("Login at")
    terminal.type("started\r")
    until_hidden(terminal)
    terminal.type(PASSWORD[:20] + CTRL_C)
    assert terminal.finish(5) == 130 and terminal.echoes()
    assert PASSWORD[:20] not in terminal.text and genome.requests("/23andMe/Download") == []


def test_after_an_error_the_terminal_is_as_before(ada: Handshake, open_terminal: Open, genome: StandIn) -> None:
    terminal = open_terminal(ada, "sequencing", "import", "23andme")
    terminal.expect("Login at")
    terminal.type("\r")
    terminal.expect("Login at", 2)
    terminal.type("started\r")
    until_hidden(terminal)
    terminal.type("\r")  # an empty one
    assert terminal.finish(5) == 64 and terminal.echoes()
    terminal = open_terminal(ada, "sequencing", "import", "23andme")
    terminal.expect("Login at")
    terminal.type("wrong\r")
    until_hidden(terminal)
    terminal.type(PASSWORD + "\r")
    assert terminal.finish() == 4 and terminal.echoes()


def test_what_was_typed_before_the_question_is_no_password(ada: Handshake, open_terminal: Open) -> None:
    terminal = open_terminal(ada, "sequencing", "import", "23andme")
    terminal.expect("Login at")
    terminal.type("started\rtyped too early\r")
    until_hidden(terminal)
    terminal.type(CTRL_C)
    assert terminal.finish(5) == 130 and "started." not in terminal.text


# The demo

def test_the_demo_asks_which_file_and_tells_what_is_in_it(
        handshake: Handshake, open_terminal: Open, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("xdg-open", "sensible-browser", "x-www-browser", "gio"):
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(stat.S_IRWXU)
    terminal = open_terminal(handshake, "demo", PATH=f"{folder}:{os.environ['PATH']}", columns=100)
    visit(terminal, 1)
    terminal.expect(QUESTION)
    assert "Ramón & Søren" in terminal.text
    terminal.type("no such file\r")
    terminal.expect(QUESTION, 2)
    terminal.type("910005\r")
    visit(terminal, 2)
    visit(terminal, 3)
    connect(terminal)
    assert terminal.finish() == 0
    assert re.search(r"CONNECTION +Water the balcony when you leave home\r?\nStatus +enabled", terminal.text)
    assert re.search(r"FILE +Katherine - Checks every orbit by hand", terminal.text)
    assert re.search(r"Melanoma risk +VeryHigh", terminal.text) and re.search(r"Vitamin D issue +No", terminal.text)


def visit(terminal: Terminal, times: int) -> None:
    """The person does in a browser what the terminal says, at the service with this number."""
    terminal.wait_for(lambda text: len(introduced(text)) >= times, f"address {times}")
    name, password, url = introduced(terminal.text)[times - 1]
    redirect = formlogin.walk(url, name, password)
    query = urlencode(dict_of(urlsplit(redirect).query))
    redirect_uri = redirect.split("?")[0]
    assert http().get(f"{redirect_uri}?{query}", timeout=10).status_code == 200


def connect(terminal: Terminal) -> None:
    """The person goes through IFTTT's pages, which come last."""
    terminal.wait_for(lambda text: "/access/api/" in text, "the address of IFTTT's pages")
    url = next(word for word in terminal.text.split() if "/access/api/" in word)
    assert http().get(Visitor({}).walk(url), timeout=10).status_code == 200


def introduced(text: str) -> list[tuple[str, str, str]]:
    """Name, password and address, as the demo has said them."""
    return re.findall(r"The sandbox's user of \S+: (\S+), password (\S+)\n(?s:.*?)^(http://127\S+)\n", text, re.M)


def test_ctrl_c_at_the_demos_question_ends_it(handshake: Handshake, open_terminal: Open) -> None:
    terminal = open_terminal(handshake, "demo", PATH="/nonexistent", columns=100)
    visit(terminal, 1)
    terminal.expect(QUESTION)
    terminal.type(CTRL_C)
    assert terminal.finish(10) == 130 and terminal.echoes()
