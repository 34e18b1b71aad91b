"""What is left of a circle and of its members when the user leaves it, forgets them, signs out, or is away for 31 days."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import bluez
from circles import ADA, QUENTIN, Member, serving
from leaks import spellings, traces
from preloaded import later, passage
from test_nearby_radio import alerts, interrupt, wait_for

reason = bluez.missing()
pytestmark = pytest.mark.skipif(reason is not None, reason=reason or "")


class Meeting:
    """What is on Ada's machine when she has met Quentin, and what of him could be found there."""

    def __init__(self, ada: Member, folder: Path, alone: set[Path], signed_in: set[Path], texts: list[bytes], photo: bytes) -> None:
        self.ada, self.folder, self.alone, self.signed_in = ada, folder, alone, signed_in
        self.texts, self.photo = texts, photo

    def copy(self, folder: Path) -> Member:
        shutil.copytree(self.folder, folder)
        return Member(self.ada.circle, ADA, folder / "home", bluez.Air(self.ada.command.environment["DBUS_SYSTEM_BUS_ADDRESS"]))

    def traces(self, folder: Path) -> list[tuple[Path, bytes]]:
        # The vault's key is beside the command's folder, where a user's configuration is.
        return traces(folder, *self.texts, self.photo)


def files(folder: Path) -> set[Path]:
    return {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """Made once. The tests change copies."""
    folder = tmp_path_factory.mktemp("meeting")
    with serving(folder / "circle") as circle, bluez.room() as (one, other), passage(circle.port, folder) as of_quentin:
        ada, quentin = Member(circle, ADA, folder / "ada/home", one), Member(circle, QUENTIN, folder / "quentin/home", other)
        quentin.command.environment |= of_quentin.environment
        try:
            ada.sign_in()
            signed_in = files(folder / "ada")
            ada.join()
            assert '"alert"' not in ada.watch("--duration", "6").finish().ok().stdout
            alone = files(folder / "ada")
            quentin.join()
            ada.nearby("circle", "sync")
            watches = [ada.watch(), quentin.watch()]
            wait_for(watches[0], alerts)
            assert [interrupt(running) for running in watches] == [130, 130]
            # His identity, and the keys of his days (circles dossier 3).
            sent = of_quentin.sent()
            identity, keys = sent[sent.index(b"SHM1"):][:164], sent[sent.index(b"SHK1"):]
            secrets = [identity[36:68], *(keys[52 + 32 * day:][:32] for day in range(keys[49]))]
            assert len(secrets) > 1 and all(len(secret) == 32 for secret in secrets)
            numbers = [b"70000", identity[4:24]]
            own = [b"Ada Example", b"Recurse", circle.address.encode()]
            texts = [b"Quentin", *numbers, *own, *(text for secret in secrets for text in spellings(secret))]
            yield Meeting(ada, folder / "ada", alone, signed_in, texts, circle.photo(QUENTIN)[:64])
        finally:
            for member in (ada, quentin):
                member.command.end()


def test_what_is_stored_of_a_person_is_shown_and_no_file_shows_it(meeting: Meeting, tmp_path: Path) -> None:
    """CI49: records are sealed. What a search would find is found where the user puts it."""
    ada = meeting.copy(tmp_path / "ada")
    assert not meeting.traces(tmp_path / "ada")
    [entry] = ada.log()
    assert (entry["person"], entry["name"]) == (QUENTIN, "Quentin Late")
    (tmp_path / "ada/log.csv").write_text(ada.command.run("nearby", "log", "--csv").ok().stdout)
    ada.command.run("nearby", "show", str(QUENTIN), "--photo", str(tmp_path / "ada/photo")).ok()
    found = meeting.traces(tmp_path / "ada")
    assert {file.name for file, _ in found} == {"log.csv", "photo"}
    assert {b"Quentin", b"70000", meeting.photo} <= {text for _, text in found}


@pytest.mark.parametrize("commands", [
    [("nearby", "circle", "leave")], [("nearby", "forget", "--everyone")], [("logout", "recurse-center")],
    [("nearby", "circle", "leave"), ("nearby", "forget", "--everyone"), ("logout", "recurse-center")]],
    ids=["leave", "forget", "logout", "all"])
def test_leaving_and_forgetting_leave_no_trace(meeting: Meeting, tmp_path: Path, commands: list[tuple[str, ...]]) -> None:
    """CI49 with a circle, in which the user has met a member. Records are sealed, so what counts is that none is left, beside that none
    shows what is in it."""
    ada = meeting.copy(tmp_path / "ada")
    begin = files(tmp_path / "ada")
    for command in commands:
        ada.command.run(*command, "--json").ok()
    rest = files(tmp_path / "ada")
    assert not meeting.traces(tmp_path / "ada")
    if commands == [("nearby", "circle", "leave")]:
        # The encounter stays until the user forgets the person, beside the user's own number and the mark of changes.
        assert ada.log() and len(rest - meeting.signed_in) == 3 < len(begin - meeting.signed_in), rest
        assert ada.command.run("nearby", "show", str(QUENTIN), "--photo", str(tmp_path / "photo")).status == 64
    else:
        assert ada.log() == [] and not rest - meeting.signed_in
        assert ada.command.run("nearby", "show", str(QUENTIN)).status == 64
    assert ada.command.run("nearby", "circle", "members", "--json").status != 0


def test_after_31_days_nothing_is_left_of_a_member_who_was_met(meeting: Meeting, tmp_path: Path) -> None:
    """CI50, with the command and another clock."""
    day = 86_400
    kept = meeting.copy(tmp_path / "29/ada")
    kept.command.environment |= later(29 * day, tmp_path)
    assert [entry["name"] for entry in kept.log()] == ["Quentin Late"] and files(tmp_path / "29/ada") - meeting.alone
    ada = meeting.copy(tmp_path / "31/ada")
    ada.command.environment |= later(31 * day, tmp_path)
    assert ada.log() == []
    assert not files(tmp_path / "31/ada") - meeting.alone and not meeting.traces(tmp_path / "31/ada")
    assert ada.members() == [] and ada.command.run("nearby", "show", str(QUENTIN)).status == 64
