"""What the command says of a mistake: the mistake, in the user's own words, and what to do now."""

from pathlib import Path

import pytest

from command import Finished, Handshake, secret_file

KEY = ["--service-key-file", "-", "--user", "ada", "aB3dE5fG"]


def says(done: Finished, status: int, *texts: str) -> None:
    assert done.status == status, done
    for text in texts:
        assert text in done.stderr, done
    assert "CommandError" not in done.stderr and "at byte" not in done.stderr


@pytest.mark.parametrize(("command", "text"), [
    ("run", "“xy” is not an action. Write SERVICE.ACTION, for example lumen_garden.start_drip."),
    ("perform", "“xy” is not a query. Write SERVICE.QUERY, for example lumen_garden.list_plants."),
    ("test", "“xy” is not a trigger. Write SERVICE.TRIGGER, for example location.exit_region_location."),
])
def test_a_component_without_its_service_is_shown_by_example(handshake: Handshake, command: str, text: str) -> None:
    says(handshake.run("ifttt", command, *KEY, "xy", stdin="key\n"), 64, f"handshake: {text}")


def test_a_field_that_is_no_json_is_quoted(handshake: Handshake) -> None:
    says(handshake.run("ifttt", "run", *KEY, "a.b", "--field-json", "a={", stdin="key\n"), 64,
         "--field-json “a”: “{” is not valid JSON.")


def test_what_is_no_file_cannot_hold_a_secret(handshake: Handshake, tmp_path: Path) -> None:
    def login(path: object) -> Finished:
        return handshake.run("login", "github", "--token-file", str(path))

    says(login(tmp_path), 64, f"“{tmp_path}” is a folder. Give a file with the token, or - for standard input.")
    says(login("/dev/null"), 64, "“/dev/null” is not a file.")
    link = tmp_path / "link"
    link.symlink_to(secret_file(tmp_path / "token", "secret"))
    says(login(link), 7, "symbolic links are not followed", "… | handshake … --token-file -")


def test_a_map_that_cannot_be_written_names_the_missing_folder(handshake: Handshake, tmp_path: Path) -> None:
    areas = tmp_path / "areas"
    areas.write_text('{"type": "FeatureCollection", "features": []}')
    path = tmp_path / "none" / "x.svg"
    says(handshake.run("places", "map", "--regions", str(areas), "--output", str(path)), 64,
         f"“{path}” cannot be written: the folder “{path.parent}” does not exist.")
    says(handshake.run("places", "map", "--regions", str(areas), "--output", str(tmp_path)), 64, "it is a folder")
