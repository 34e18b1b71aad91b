"""`handshake ifttt …` at the sandbox: a connection turned on by a script and a browser, used, and turned off; and how each command ends when it cannot."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from command import Finished, Handshake, Running, binary, secret_file
from connect_pages import Visitor
from terminal import Terminal

CONNECTION = "aB3dE5fG"
MANY = "mAnyFt05"
HIDDEN = "hIddEn06"
EDSGER = "edsger@example.test"


class Service:
    """IFTTT's stand-in in a running sandbox."""

    def __init__(self, command: Handshake) -> None:
        self.running = command.start("sandbox", "--print-json")
        self.facts = json.loads(self.running.line())["services"]["ifttt"]
        self.origin: str = self.facts["origin"]
        self.connect: dict[str, Any] = self.facts["connect"]

    def account(self, name: str) -> dict[str, Any]:
        return next(a for a in self.connect["accounts"] if a["login"].startswith(name))

    def oauth_code(self, user: str) -> str:
        return requests.post(f"{self.origin}/_sandbox/oauth-code", data=user, timeout=10).json()["code"]

    def log(self, name: str) -> list[dict[str, Any]]:
        lines = requests.get(f"{self.origin}/_sandbox/{name}", timeout=10).text.splitlines()
        return [json.loads(line) for line in lines if line]


def services(folder: Path) -> Iterator[Service]:
    """A sandbox of IFTTT; skips the test where the command is not built."""
    path = binary()
    if path is None:
        pytest.skip("handshake is not built")
    command = Handshake(path, folder / "home")
    yield Service(command)
    command.end()


@pytest.fixture(scope="module")
def ifttt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    yield from services(tmp_path_factory.mktemp("ifttt"))


@pytest.fixture
def key(ifttt: Service, tmp_path: Path) -> str:
    return str(secret_file(tmp_path / "service.key", ifttt.connect["partners"][0]["service_key"] + "\n"))


def connecting(handshake: Handshake, ifttt: Service, *options: str, connection: str = CONNECTION) -> Running:
    return handshake.start("ifttt", "connect", connection, "--browser", "print", "--json", "--base-url", ifttt.origin, *options)


def refused(done: Finished, status: int, code: str | None = None) -> None:
    assert done.status == status, done
    assert done.error["status"] == status and done.error["message"]
    assert code in (None, done.error["code"]), done.error


def test_show_without_an_account_shows_what_is_public(handshake: Handshake, ifttt: Service) -> None:
    shown = handshake.run("ifttt", "show", CONNECTION, "--json", "--base-url", ifttt.origin).ok().json
    assert shown["id"] == CONNECTION and shown["status"] == "unknown" and shown["configurations"] == 0
    assert [service["id"] for service in shown["services"]] == ["lumen_garden", "location"]
    text = handshake.run("ifttt", "show", CONNECTION, "--base-url", ifttt.origin).ok().stdout
    assert "Water the balcony when you leave home" in text and "Lumen Garden (owner)" in text


def test_show_names_what_the_other_commands_ask_for(handshake: Handshake, ifttt: Service) -> None:
    text = handshake.run("ifttt", "show", CONNECTION, "--base-url", ifttt.origin).ok().stdout
    for name in ("ft01", "lumen_garden.start_drip", "ac01", "location.exit_region_location", "tr01", "zone (COLLECTION_SELECT, required): Zone"):
        assert name in text, text
    feature = handshake.run("ifttt", "show", CONNECTION, "--json", "--base-url", ifttt.origin).ok().json["features"][0]
    assert feature["id"] == "ft01" and [t["id"] for t in feature["triggers"]] == ["tr01"] and feature["queries"] == []
    assert feature["actions"] == [{"id": "ac01", "name": "lumen_garden.start_drip", "label": "Start the drip line", "fields": [
        {"id": "zone", "label": "Zone", "type": "COLLECTION_SELECT", "required": True}]}]
    many = handshake.run("ifttt", "show", MANY, "--base-url", ifttt.origin).ok().stdout
    assert "lumen_garden.list_plants" in many and "season" in many
    assert "ft-l0ngNam7" in handshake.run("ifttt", "show", "l0ngNam7", "--base-url", ifttt.origin).ok().stdout, "whatever its title's length"


def test_a_connection_is_turned_on_shown_on_and_turned_off(handshake: Handshake, ifttt: Service) -> None:
    running = connecting(handshake, ifttt, "--email", EDSGER)
    url = running.line()
    assert url.startswith(f"{ifttt.origin}/access/api/{CONNECTION}?") and "sdk_anonymous_id" not in url
    redirect = Visitor(ifttt.account("edsger")).walk(url)
    # Another attempt's token at the same address is no answer, and the page says so.
    base = redirect.split("?")[0]
    forged = requests.get(f"{base}?next_step=complete&user_token=THEIRS", timeout=10)
    assert forged.status_code == 400
    page = requests.get(redirect, timeout=10)
    assert page.status_code == 200 and "utk_" not in page.text and page.headers["Referrer-Policy"] == "no-referrer"
    done = running.finish().ok()
    assert done.json["pending"] is False and done.json["connection"]["status"] == "enabled"
    assert "utk_" not in done.stdout + done.stderr and "THEIRS" not in done.stdout + done.stderr
    shown = handshake.run("ifttt", "show", CONNECTION, "--json", "--base-url", ifttt.origin).ok().json
    assert shown["status"] == "enabled" and shown["configurations"] >= 1
    token = handshake.run("ifttt", "token", CONNECTION, "--base-url", ifttt.origin).ok().stdout.strip()
    assert token.startswith("utk_")
    again = connecting(handshake, ifttt).finish().ok()
    assert again.json["connection"]["status"] == "enabled", "what is on needs no browser"
    off = handshake.run("ifttt", "disconnect", CONNECTION, "--json", "--base-url", ifttt.origin).ok().json
    assert off["status"] == "disabled"


def test_an_account_is_not_given_to_another_partner(handshake: Handshake, ifttt: Service) -> None:
    """The first one's token would stay where no command finds it."""
    running = connecting(handshake, ifttt, "--email", EDSGER)
    requests.get(Visitor(ifttt.account("edsger")).walk(running.line()), timeout=10)
    running.finish().ok()
    token = handshake.run("ifttt", "token", CONNECTION, "--base-url", ifttt.origin).ok().stdout
    code = next(p["invite_code"] for p in ifttt.connect["partners"] if p["invite_code"])
    done = handshake.run("ifttt", "connect", HIDDEN, "--browser", "print", "--json", "--base-url", ifttt.origin,
                         "--email", EDSGER, "--timeout", "20", "--invite-code-file", "-", stdin=code)
    refused(done, 64)
    assert "lumen_garden" in done.error["message"] and "handshake logout ifttt" in done.error["message"], done
    assert done.stdout == "", "the user was sent to IFTTT"
    assert handshake.run("ifttt", "token", CONNECTION, "--base-url", ifttt.origin).ok().stdout == token
    handshake.run("logout", "ifttt").ok()
    running = handshake.start("ifttt", "connect", HIDDEN, "--browser", "print", "--json", "--base-url", ifttt.origin,
                              "--email", EDSGER, "--timeout", "20", "--invite-code-file", "-", stdin=code + "\n")
    assert HIDDEN in running.line()
    running.end()


def test_a_connection_that_ifttt_keeps_on_is_not_said_to_be_off(handshake: Handshake, ifttt: Service) -> None:
    running = connecting(handshake, ifttt, "--email", EDSGER)
    requests.get(Visitor(ifttt.account("edsger")).walk(running.line()), timeout=10)
    running.finish().ok()
    rule = f"ifttt POST /v2/connections/{CONNECTION}/disable => member user_status enabled x1"
    requests.post(f"{ifttt.origin}/_sandbox/faults", data=rule, timeout=10).raise_for_status()
    refused(handshake.run("ifttt", "disconnect", CONNECTION, "--yes", "--json", "--base-url", ifttt.origin), 4, "not_confirmed")
    off = handshake.run("ifttt", "disconnect", CONNECTION, "--yes", "--json", "--base-url", ifttt.origin).ok().json
    assert off["status"] == "disabled"


def test_a_refusal_at_ifttt_and_a_wish_without_an_address_end_as_they_should(handshake: Handshake, ifttt: Service) -> None:
    running = connecting(handshake, ifttt, "--email", EDSGER)
    requests.get(Visitor(ifttt.account("edsger")).walk(running.line(), outcome="user_cancelled_configuration"), timeout=10)
    refused(running.finish(), 2, "configuration_cancelled")
    running = connecting(handshake, ifttt, "--email", EDSGER)
    requests.get(Visitor(ifttt.account("edsger")).walk(running.line(), outcome="account_creation"), timeout=10)
    refused(running.finish(), 4, "account_creation_failed")
    refused(connecting(handshake, ifttt).finish(), 64)
    refused(connecting(handshake, ifttt, "--email", "no address").finish(), 64)
    refused(connecting(handshake, ifttt, "--email", EDSGER, "--timeout", "1").finish(), 2, "timed_out")


def test_a_mistyped_address_is_asked_for_once_more_and_never_again(handshake: Handshake, ifttt: Service) -> None:
    terminal = Terminal([str(handshake.path), "ifttt", "connect", "pL41nX01", "--browser", "print", "--base-url", ifttt.origin],
                        handshake.environment, columns=2000)
    try:
        terminal.expect("Your email address:")
        terminal.type("no address\n")
        terminal.expect("Not a valid email address. Your email address:")
        terminal.type(f"{EDSGER}\n")
        terminal.expect("/access/api/")
        url = next(line for line in terminal.text.splitlines() if "/access/api/" in line)
        requests.get(Visitor(ifttt.account("edsger")).walk(url), timeout=10)
        assert terminal.finish() == 0, terminal.text
        assert terminal.text.count("Your email address:") == 2, terminal.text
    finally:
        terminal.close()


@pytest.mark.parametrize(("arguments", "status"), [
    (["show", "unknown1"], 4), (["show", "no/id"], 64), (["token", CONNECTION], 3), (["disconnect", CONNECTION], 3),
    (["token", CONNECTION, "--user", "garden-1001"], 64), (["connect", CONNECTION, "--redirect", "https://x.example"], 64)])
def test_what_cannot_be_done_says_whose_turn_it_is(handshake: Handshake, ifttt: Service, arguments: list[str], status: int) -> None:
    refused(handshake.run("ifttt", *arguments, "--json", "--base-url", ifttt.origin), status)


def test_no_network_is_status_6(handshake: Handshake) -> None:
    refused(handshake.run("ifttt", "show", CONNECTION, "--json", "--base-url", "http://127.0.0.1:9"), 6)


def test_the_partners_commands_list_update_run_and_perform(handshake: Handshake, ifttt: Service, key: str, tmp_path: Path) -> None:
    def partner(command: str, *arguments: str, connection: str = CONNECTION, user: str = "garden-1001") -> Finished:
        return handshake.run("ifttt", command, connection, *arguments, "--user", user, "--service-key-file", key,
                             "--base-url", ifttt.origin, "--json")

    options = partner("options", "--action", "lumen_garden.start_drip").ok().json["options"]
    assert {option["value"] for option in options["zone"]} >= {"zone-7", "zone-9"}
    refused(partner("options"), 64)
    document = {"user_features": [{"feature_id": "ft01", "enabled": True, "user_feature_triggers": [
        {"feature_trigger_id": "tr01", "user_fields": [{"field_id": "location", "value": {
            "lat": 52.52, "lng": 13.405, "radius": 200, "address": "Sample Square 1"}}]}],
        "user_feature_actions": [{"feature_action_id": "ac01", "user_fields": [{"field_id": "zone", "value": "zone-9"}]}]}]}
    file = tmp_path / "configuration.json"
    file.write_text(json.dumps(document))
    assert partner("update", "--configuration", str(file)).ok().json["configurations"] == 1
    document["user_features"][0]["user_feature_actions"][0]["user_fields"][0]["value"] = "zone-0"  # type: ignore[index]
    file.write_text(json.dumps(document))
    refused(partner("update", "--configuration", str(file)), 4)
    for spoiled, named in (('{"user_features":[{"enabled":true}]}', "feature_id"), ('{"user_features":[{"feature_id":"ft01"}]}', "enabled"),
                           ('{"user_features":[{"feature_id":"ft01","enabled":true,"user_feature_action":[]}]}', "user_feature_action"),
                           ("{", "not valid JSON")):
        file.write_text(spoiled)
        done = partner("update", "--configuration", str(file))
        refused(done, 64)
        assert named in done.error["message"] and str(file) in done.error["message"], done
    assert '"enabled": true' in handshake.run("ifttt", "update", "--help").ok().stdout
    assert partner("run", "lumen_garden.start_drip", "--field", "zone=zone-7").ok().json == {
        "action": "lumen_garden.start_drip", "ran": True}
    refused(partner("run", "lumen_garden.start_drip", user="garden-1003"), 4)
    refused(partner("run", "start_drip"), 64)
    refused(partner("options", "--action", "start_drip"), 64, "usage")
    found = partner("perform", "lumen_garden.list_plants", connection=MANY).ok().stdout.splitlines()
    assert len(found) == 7 and all(isinstance(json.loads(line), dict) for line in found), "every page, one object a line"
    few = partner("perform", "lumen_garden.list_plants", "--limit", "3", connection=MANY).ok().stdout.splitlines()
    assert few == found[:3]
    assert partner("perform", "lumen_garden.list_plants", "--limit", "60", connection=MANY).ok().stdout.splitlines() == found
    refused(partner("perform", "lumen_garden.nothing", connection=MANY), 4)


def test_what_show_prints_of_a_configuration_is_what_update_takes(handshake: Handshake, ifttt: Service, key: str) -> None:
    def partner(*arguments: str, stdin: str | None = None) -> Finished:
        return handshake.run("ifttt", "update", CONNECTION, *arguments, "--user", "garden-1001", "--base-url", ifttt.origin, "--json", stdin=stdin)

    document = {"user_features": [{"feature_id": "ft01", "enabled": True, "user_feature_triggers": [
        {"feature_trigger_id": "tr01", "user_fields": [{"field_id": "location", "value": {
            "lat": 35.005, "lng": 135.75, "radius": 200.5, "address": "Nishiki Market"}}]}],
        "user_feature_actions": [{"feature_action_id": "ac01", "user_fields": [{"field_id": "zone", "value": "zone-9"}]}]}]}
    first = partner("--configuration", "-", "--service-key-file", key, stdin=json.dumps(document, indent=1)).ok().json["user_connection"]
    feature = first["user_features"][0]
    assert feature["user_feature_triggers"][0]["user_fields"][0]["value"] == {
        "lat": 35.005, "lng": 135.75, "radius": 200.5, "address": "Nishiki Market"}, "numbers stay numbers"
    # The key's line first, when both come the same way.
    again = partner("--configuration", "-", "--service-key-file", "-", stdin=Path(key).read_text() + json.dumps(first)).ok().json["user_connection"]
    for shown in (first, again):
        for feature in shown["user_features"]:
            assert feature.pop("id")
    assert again == first


def test_the_service_key_comes_from_a_file_or_standard_input_and_is_never_shown(
        handshake: Handshake, ifttt: Service, key: str, tmp_path: Path) -> None:
    secret = Path(key).read_text()
    access = secret_file(tmp_path / "access", ifttt.account("ada")["partner_access_token"])
    arguments = ("ifttt", "token", CONNECTION, "--user", "garden-1001", "--service-key-file", "-", "--access-token-file", str(access),
                 "--base-url", ifttt.origin)
    done = handshake.run(*arguments, stdin=secret).ok()
    assert done.stdout.strip() == ifttt.account("ada")["user_token"]
    assert secret.strip() not in done.stdout + done.stderr
    refused(handshake.run(*arguments, "--json", stdin="not-the-key\n"), 3, "unauthorized")
    refused(handshake.run(*arguments, "--json", stdin=""), 64)


def test_a_service_key_typed_on_a_terminal_is_asked_for_and_not_shown(handshake: Handshake, ifttt: Service, key: str, tmp_path: Path) -> None:
    access = secret_file(tmp_path / "access", ifttt.account("ada")["partner_access_token"])
    terminal = Terminal([str(handshake.path), "ifttt", "token", CONNECTION, "--user", "garden-1001", "--service-key-file", "-",
                         "--access-token-file", str(access), "--base-url", ifttt.origin], handshake.environment, columns=2000)
    try:
        terminal.expect("The service key (not shown):")
        assert not terminal.echoes()
        terminal.type(Path(key).read_text())
        assert terminal.finish() == 0, terminal.text
        assert terminal.echoes() and Path(key).read_text().strip() not in terminal.text
        assert ifttt.account("ada")["user_token"] in terminal.text
    finally:
        terminal.close()


def test_an_invite_code_comes_once_on_standard_input_however_often_it_is_needed(handshake: Handshake, ifttt: Service) -> None:
    code = next(p["invite_code"] for p in ifttt.connect["partners"] if p["invite_code"])
    refused(handshake.run("ifttt", "show", HIDDEN, "--json", "--base-url", ifttt.origin), 4, "not_found")
    shown = handshake.run("ifttt", "show", HIDDEN, "--json", "--base-url", ifttt.origin, "--invite-code-file", "-", stdin=code).ok().json
    assert shown["id"] == HIDDEN
    running = handshake.start("ifttt", "connect", HIDDEN, "--browser", "print", "--json", "--base-url", ifttt.origin,
                              "--email", EDSGER, "--timeout", "20", "--invite-code-file", "-", stdin=code + "\n")
    assert f"invite_code={code}" in running.line()
    running.end()
    refused(handshake.run("ifttt", "show", HIDDEN, "--json", "--base-url", ifttt.origin, "--invite-code-file", "-", stdin=""), 64)


def test_a_vault_that_cannot_be_read_is_no_missing_account(handshake: Handshake, ifttt: Service) -> None:
    (handshake.home / "vault").mkdir(parents=True)
    (handshake.home / "vault.key").write_text("no key\n")
    refused(handshake.run("ifttt", "show", CONNECTION, "--json", "--base-url", ifttt.origin), 7)


def test_a_query_is_asked_for_no_page_beyond_the_limit(handshake: Handshake, ifttt: Service, key: str) -> None:
    before = len(ifttt.log("runs"))
    found = handshake.run("ifttt", "perform", MANY, "lumen_garden.list_plants", "--limit", "3", "--user", "garden-1001",
                          "--service-key-file", key, "--base-url", ifttt.origin, "--json").ok().stdout.splitlines()
    assert len(found) == 3 and len(ifttt.log("runs")) == before + 1


def test_values_that_are_no_text_are_given_as_json(handshake: Handshake, ifttt: Service, key: str) -> None:
    def run(*fields: str) -> Finished:
        return handshake.run("ifttt", "run", MANY, "lumen_garden.mist_herbs", *fields, "--user", "garden-1001",
                             "--service-key-file", key, "--base-url", ifttt.origin, "--json")

    run("--field-json", 'days=["monday","friday"]').ok()
    assert [day["value"] if isinstance(day, dict) else day for day in ifttt.log("runs")[-1]["fields"]["days"]] == ["monday", "friday"]
    refused(run("--field-json", 'days=["sunday"]'), 4, "invalid_parameters")
    for pair, named in (("days", "NAME=JSON"), ("days=[", "not valid JSON"), ("days=null", "days"), ('p={"lat":91,"lng":0}', "p.lat"),
                        ('p={"lat":1,"lng":0,"radius":"wide"}', "p.radius"), ('p={"lat":1,"lng":0,"raduis":5}', "p.raduis")):
        done = run("--field-json", pair)
        refused(done, 64)
        assert named in done.error["message"], done
    refused(run("--field", "days=monday", "--field-json", 'days=["friday"]'), 64)


def test_options_are_listed_by_the_part_of_a_feature_too(handshake: Handshake, ifttt: Service, key: str) -> None:
    def options(*names: str) -> Finished:
        return handshake.run("ifttt", "options", MANY, *names, "--user", "garden-1001", "--service-key-file", key,
                             "--base-url", ifttt.origin, "--json")

    drip = ("--action", "lumen_garden.start_drip")
    assert [o["value"] for o in options("--feature", "ft40", *drip).ok().json["options"]["pace"]] == ["pace-1", "pace-2", "pace-3"]
    refused(options("--feature", "ft41", *drip), 4, "not_found")
    refused(options("--query", "lumen_garden.list_plants", *drip), 64)


def test_a_trigger_is_tested_and_news_are_hinted_at(handshake: Handshake, ifttt: Service, key: str) -> None:
    def partner(*arguments: str) -> Finished:
        return handshake.run("ifttt", *arguments, "--service-key-file", key, "--base-url", ifttt.origin, "--json")

    trigger = "location.exit_region_location"
    assert partner("test", CONNECTION, trigger, "--user", "garden-1001").ok().json == {"trigger": trigger, "tested": True}
    assert ifttt.log("webhooks")[-1]["event"] == "trigger_subscription/fired"
    refused(partner("test", CONNECTION, "location.nothing", "--user", "garden-1001"), 4, "not_found")
    refused(partner("test", CONNECTION, "nothing", "--user", "garden-1001"), 64)
    assert partner("notify", "--user", "garden-1001", "--user", "garden-1002", "--trigger-identity", "t-1").ok().json == {"notified": 3}
    assert [entry.get("user_id") or entry.get("trigger_identity") for entry in ifttt.log("notifications")][-3:] == [
        "garden-1001", "garden-1002", "t-1"]
    refused(partner("notify"), 64)
    refused(handshake.run("ifttt", "notify", "--user", "u", "--service-key-file", "-", "--base-url", ifttt.origin, "--json", stdin="no-key\n"),
            3, "unauthorized")


def test_the_address_that_connects_from_a_mail_is_printed_with_a_code_or_without(handshake: Handshake, ifttt: Service, key: str) -> None:
    def url(*options: str, stdin: str | None = None) -> Finished:
        return handshake.run("ifttt", "url", CONNECTION, "--email", "ada+x@example.test", "--base-url", ifttt.origin, *options, stdin=stdin)

    plain = f"{ifttt.origin}/connect/{CONNECTION}?email=ada%2Bx@example.test"
    assert url().ok().stdout == plain + "\n"
    back = "https://garden.example.test/connect_callback"
    assert url("--redirect", back, "--skip-configuration", "--json").ok().json == {
        "url": f"{plain}&redirect_uri={back}&skip_config=true"}
    refused(url("--skip-configuration", "--json"), 64)
    refused(url("--redirect", "gardenapp://connect_callback", "--json"), 64)
    refused(url("--oauth-code-file", "-", "--json", stdin="x"), 64)
    refused(url("--oauth-code-file", "-", "--service-key-file", key, "--json", stdin="no-code\n"), 4, "invalid_parameters")
    secrets = Path(key).read_text() + ifttt.oauth_code("garden-1001") + "\n"
    made = url("--oauth-code-file", "-", "--service-key-file", "-", stdin=secrets).ok().stdout
    assert made.startswith(plain + "&code=") and Path(key).read_text().strip() not in made
