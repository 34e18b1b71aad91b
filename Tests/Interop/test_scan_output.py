"""The search of the whole run's output finds what it is for, and only that."""

from pathlib import Path

import pytest

from scan_output import main

SECRETS = {
    "planted": "canary-" + "0a" * 16,
    "jwt": "token eyJhbGciOi" + "J9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl here",
    "json": '{"access_' + 'token":"0123456789"}',
    "escaped json": '"{\\"refresh_' + 'token\\": \\"0123456789\\"}"',
    "form": "grant_type=refresh_token&refresh_" + "token=0123456789abcdef",
    "header": "Authorization: " + "Bearer 0123456789abcdef",
}
HARMLESS = [
    "code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", '{"access_token":"<redacted>"}', "canary-", "eyJ",
    "◇ Test case passing 1 argument token → " + SECRETS["jwt"], '"refreshable":true', "Authorization: Bearer <redacted>",
    "access_token is missing", "refresh_token=…",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_and_not_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (tmp_path / "run.log").write_text(f"harmless\n{SECRETS[name]}\n")
    assert main([str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "run.log:2" in said and "0123456789" not in said and SECRETS["planted"] not in said


def test_what_is_harmless_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("\n".join(HARMLESS))
    assert main([str(tmp_path)]) == 0


def test_a_planted_secret_is_found_among_a_tests_arguments_too(tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text("◇ Test case passing 1 argument token → " + SECRETS["planted"])
    assert main([str(tmp_path)]) == 1


def test_nothing_to_search_is_not_a_success(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 2
    assert main([str(tmp_path / "absent")]) == 2
