"""What the command says of a mistake: the mistake, in the user's own words, and what to do now."""

import time
from pathlib import Path

import pytest

from command import Finished, Handshake, secret_file
from stand_in import StandIn
from strangers import REPOSITORY, Stranger
from test_mcp import registrations

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


@pytest.mark.parametrize("lines", [1, 250])
def test_a_file_without_a_readable_line_is_no_recording(handshake: Handshake, tmp_path: Path, lines: int) -> None:
    path = tmp_path / "rec"
    path.write_text("garbage\n" * lines)
    done = handshake.run("nearby", "replay", str(path), "--no-delay", "--me", "1")
    says(done, 64, f"“{path}” is not a recording (line 1: it is not a JSON object). "
                   "Make one with: handshake nearby watch --record FILE")
    assert "Remove or repair" not in done.stderr


@pytest.mark.parametrize(("content", "reason"), [
    ("garbage\n", "is not GeoJSON. Line 1 is not valid JSON."), ("{}", '"type" is missing'),
    ("[1]", "A value has the wrong type. It must be an object"),
    ('{"type": "FeatureCollection", "features": [1]}', "Region 1: a value has the wrong type. It must be an object."),
])
def test_areas_that_are_no_geojson_are_named(handshake: Handshake, tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "areas"
    path.write_text(content)
    done = handshake.run("places", "list", "--regions", str(path))
    says(done, 64, f"“{path}”", reason)
    assert '"value"' not in done.stderr
    says(handshake.run("places", "list", "--regions", "-", stdin=content), 64, "handshake: Standard input", reason)


def test_a_position_that_is_none_is_refused_with_an_example(handshake: Handshake, tmp_path: Path) -> None:
    path = tmp_path / "areas"
    path.write_text('{"type": "FeatureCollection", "features": []}')
    done = handshake.run("places", "list", "--regions", str(path), "--at", "abc")
    says(done, 64, "“abc” is not a position. Write LATITUDE,LONGITUDE, such as 40.7251,-73.9967.")


@pytest.mark.parametrize(("content", "text"), [
    ("garbage\n", " is neither GPX nor NMEA."), ("", " is neither GPX nor NMEA."),
    ("<gpx><trk><trkseg/></trk></gpx>", " has no usable position: its track has no points."),
    ("<gpx></gpx>", " has no usable position: it has no track and no route."),
    ("<html></html>", " is not valid GPX: "),
])
def test_a_track_that_cannot_be_used_is_named(handshake: Handshake, tmp_path: Path, content: str, text: str) -> None:
    track, areas = tmp_path / "track", tmp_path / "areas"
    track.write_text(content)
    areas.write_text('{"type": "FeatureCollection", "features": []}')
    for command in (["replay", str(track)], ["map", "--track", str(track), "--output", "-"],
                    ["watch", "--source", f"gpx:{track}"]):
        if command[0] == "watch" and not content.startswith("<"):
            continue
        says(handshake.run("places", *command, "--regions", str(areas)), 64, f"“{track}”{text}")


def test_one_standard_input_is_one_file(handshake: Handshake) -> None:
    for command in (["replay", "-"], ["map", "--track", "-", "--output", "-"], ["watch", "--source", "-"]):
        says(handshake.run("places", *command, "--regions", "-", stdin="{}"), 64,
             "The track and --regions cannot both be standard input.")


@pytest.mark.parametrize("arguments", [["sync"], ["queue"], ["list"]], ids=" ".join)
def test_only_a_command_with_regions_advises_them(handshake: Handshake, arguments: list[str]) -> None:
    done = handshake.run("places", *arguments)
    says(done, 3, "handshake ifttt connect CONNECTION")
    assert ("--regions" in done.stderr) == (arguments == ["list"])


def test_a_map_that_cannot_be_written_names_the_missing_folder(handshake: Handshake, tmp_path: Path) -> None:
    areas = tmp_path / "areas"
    areas.write_text('{"type": "FeatureCollection", "features": []}')
    path = tmp_path / "none" / "x.svg"
    says(handshake.run("places", "map", "--regions", str(areas), "--output", str(path)), 64,
         f"“{path}” cannot be written: the folder “{path.parent}” does not exist.")
    says(handshake.run("places", "map", "--regions", str(areas), "--output", str(tmp_path)), 64, "it is a folder")


@pytest.mark.parametrize(("options", "text"), [
    (["--redirect", "foo"], "--redirect takes loopback, loopback:PORT or a redirect URI, such as com.example.app:/callback, "
                            "not “foo”."),
    (["--redirect", "loopback:0"], "--redirect takes loopback:PORT with a port from 1 to 65535, not “loopback:0”."),
    (["--base-url", "foo"], "--base-url takes an https address, such as https://id.example.com, not “foo”."),
    (["--base-url", "https://id.example/v2"], "--base-url takes an origin, such as https://id.example.com, not “https://id.example/v2”: "
                                              "the service's own paths are used there."),
    (["--resource", "foo"], "--resource takes an absolute URI"), (["--api-origin", "foo"], "--api-origin takes an https address"),
])
def test_a_wrong_option_is_named_as_the_user_wrote_it(handshake: Handshake, options: list[str], text: str) -> None:
    done = handshake.run("login", "github", "--client-id", "app", *options)
    says(done, 64, text)
    assert "The configuration of" not in done.stderr


@pytest.mark.parametrize("command", [["sequencing", "beacon", "1", "1000", "A"], ["ifttt", "show", "aB3dE5fG"]], ids=["sequencing", "ifttt"])
def test_a_kits_commands_take_an_origin(handshake: Handshake, command: list[str]) -> None:
    done = handshake.run(*command, "--base-url", "http://127.0.0.1:9/v2")
    says(done, 64, "--base-url takes an origin, such as https://id.example.com, not “http://127.0.0.1:9/v2”")


@pytest.mark.parametrize("option", ["--issuer", "--token-url", "--authorize-url"])
def test_a_wrong_address_of_a_server_is_named(handshake: Handshake, option: str) -> None:
    rest = ["--token-url", "https://id.example"] if option == "--authorize-url" else []
    says(handshake.run("login", "work", "--client-id", "app", option, "https://a b", *rest), 64,
         f"{option} takes an https address, such as https://id.example.com, not “https://a b”: the address has a space")


@pytest.mark.parametrize(("address", "issuer"), [
    ("https://id.example/t/.well-known/openid-configuration", "https://id.example/t"),
    ("https://id.example/.well-known/oauth-authorization-server/t", "https://id.example/t"),
    ("https://id.example/.well-known/openid-configuration", "https://id.example"),
])
def test_the_address_of_metadata_is_told_from_the_issuer(handshake: Handshake, address: str, issuer: str) -> None:
    says(handshake.run("login", "mine", "--client-id", "app", "--issuer", address), 64,
         f"--issuer takes the server's issuer, not “{address}”: that is the address of its metadata; write {issuer}.")


def test_endpoints_alone_cannot_say_who_has_signed_in(handshake: Handshake) -> None:
    done = handshake.run("login", "work", "--client-id", "app", "--authorize-url", "http://127.0.0.1:1/a", "--token-url",
                         "http://127.0.0.1:1/t", "--scope", "openid", "--browser", "print")
    says(done, 64, "“work” is described by its endpoints alone", "Leave out the scope “openid”, or name the server by its issuer.")
    assert done.stdout == "" and "jwks" not in done.stderr


def test_an_api_without_a_scheme_is_named_as_the_user_wrote_it(handshake: Handshake) -> None:
    for name in ([], ["mine"]):
        says(handshake.run("login", *name, "--resource", "127.0.0.1:1/mcp"), 64, "--resource takes an https address", "write it with https://")
    says(handshake.run("login", "mine", "--issuer", "http://127.0.0.1:1", "--client-id", "app", "--resource", "localhost:1/mcp"), 64,
         "--resource takes an https address", "write it with https://")


@pytest.mark.parametrize(("address", "text"), [
    ("me", "cannot be completed. Write the whole URL: handshake headers mine --for https://…"),
    ("https://id.example@a.example/?q=hidden", "--for takes an https address, or a path below the service's API, not “https://id.example@a.example/”"),
])
def test_the_address_that_headers_are_for_is_named_as_the_user_wrote_it(
        handshake: Handshake, django: Stranger, address: str, text: str) -> None:
    handshake.signed_in("mine", django)
    done = handshake.run("headers", "mine", "--for", address)
    says(done, 64, text)
    assert "hidden" not in done.stderr and done.stdout == ""


@pytest.mark.parametrize(("variable", "value", "text"), [
    ("HANDSHAKE_VAULT", "zip", "HANDSHAKE_VAULT takes memory, files:DIR, secret-service, sqlite:FILE or postgres:CONNECTION, not “zip”."),
    ("HANDSHAKE_AUTH", "bad", "HANDSHAKE_AUTH takes none, basic, post, private-key-jwt, client-secret-jwt, tls or self-signed-tls, not “bad”."),
    ("HANDSHAKE_BROWSER_CHOICE", "bad", "HANDSHAKE_BROWSER_CHOICE takes system or print, not “bad”."),
    ("HANDSHAKE_REDIRECT", "bad", "HANDSHAKE_REDIRECT takes loopback"),
    ("HANDSHAKE_BASE_URL", "bad", "HANDSHAKE_BASE_URL takes an https address"),
])
def test_a_wrong_variable_is_named(handshake: Handshake, variable: str, value: str, text: str) -> None:
    says(handshake.run("login", "github", "--client-id", "app", **{variable: value}), 64, text)


@pytest.mark.parametrize(("settings", "text"), [
    ('vault = "zip"', "“vault” in “CONFIG” takes memory, files:DIR, secret-service, sqlite:FILE or postgres:CONNECTION, not “zip”."),
    ('[services.github]\nauth = "bad"', "“auth” of [services.github] in “CONFIG” takes none, basic, post, private-key-jwt, client-secret-jwt, tls or self-signed-tls, not “bad”."),
    ('[services.github]\nresource = ["bad"]', "“resource” of [services.github] in “CONFIG” takes an absolute URI"),
    ("[services.github]\nclient_id = 3", "“CONFIG”: in [services.github], “client_id” is not a setting. Did you mean “client-id”?"),
    ("[services.github]\ncolour = 3", "“colour” is not a setting. The settings are the options of handshake login"),
])
def test_a_wrong_setting_is_named_with_its_file(handshake: Handshake, settings: str, text: str) -> None:
    handshake.home.mkdir(mode=0o700, exist_ok=True)
    config = handshake.home / "config.toml"
    config.write_text(settings + "\n")
    says(handshake.run("login", "github", "--client-id", "app"), 64, text.replace("CONFIG", str(config)))


def test_a_token_that_was_not_checked_is_not_called_a_sign_in(handshake: Handshake, tmp_path: Path) -> None:
    done = handshake.run("login", "work", "--authorize-url", "https://id.example/a", "--token-url", "https://id.example/t",
                         "--token-file", str(secret_file(tmp_path / "token", "secret")))
    says(done, 0, "Stored the token as “work”. It was not checked: the service has no userinfo URL.")
    assert "Signed in" not in done.stderr


def test_a_path_without_an_api_is_answered_with_a_command(handshake: Handshake, tmp_path: Path) -> None:
    handshake.run("login", "work", "--authorize-url", "https://id.example/a", "--token-url", "https://id.example/t",
                  "--token-file", str(secret_file(tmp_path / "token", "secret"))).ok()
    says(handshake.run("request", "GET", "x", "--account", "work"), 64,
         "handshake: “work” has no API address, so “x” cannot be completed. Write the whole URL: "
         "handshake request GET https://… --account work")
    says(handshake.run("request", "GET", "http://example.com", "--account", "work"), 5,
         "http://example.com is not encrypted, so nothing was sent to it. Use https.")
    says(handshake.run("request", "GET", "https://a b", "--account", "work"), 64, "“https://a b” is not an address: the address has a space")
    says(handshake.run("request", "GET", "https://a.example/b#hidden", "--account", "work"), 64,
         "“https://a.example/b” is not an address: the address must not have a fragment. Write an https URL")
    says(handshake.run("request", "GET", "https://other.example/", "--account", "work"), 5,
         "The token was not sent to https://other.example, because it is for https://id.example alone.")


def test_a_client_without_a_secret_is_told_the_option(handshake: Handshake) -> None:
    says(handshake.run("login", "work", "--issuer", "https://id.example", "--client-id", "app", "--grant", "client-credentials"),
         64, "--grant client-credentials needs --client-secret-file FILE, --key FILE or --certificate FILE.")


def test_a_server_that_cannot_be_reached_has_a_next_step(handshake: Handshake) -> None:
    for host, step in (("127.0.0.1:1", "Check the address and that the server runs."),
                       ("none.invalid", "Check the network and the spelling of the host name.")):
        says(handshake.run("login", "work", "--issuer", f"https://{host}", "--client-id", "app"), 6, step)


def test_without_a_session_a_keyring_is_no_empty_list(handshake: Handshake) -> None:
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""}
    done = handshake.run("accounts", "--vault", "secret-service", **nowhere)
    says(done, 7, "No desktop session with a keyring is running. Log in to the desktop, or use --vault files:DIR.")


def test_the_doctor_prints_a_whole_cure(handshake: Handshake) -> None:
    handshake.run("doctor").ok()
    key = next((handshake.home.parent / ".config/handshake/keys").glob("*.key"))
    key.write_bytes(b"short")
    done = handshake.run("doctor")
    says(done, 7, "Without the right key the accounts cannot be read: if you have no copy, move "
                  f"“{handshake.home}/vault” away and sign in again. It is left as it is. Restore it from a backup. "
                  "No account was deleted.")
    assert "vault_" not in done.stdout + done.stderr and "…" not in done.stdout + done.stderr


def test_the_doctor_says_whether_there_are_settings(handshake: Handshake) -> None:
    config = handshake.home / "config.toml"
    assert f"no file; optional: {config}" in handshake.run("doctor").ok().stdout
    config.write_text('vault = "memory"\n')
    shown = handshake.run("doctor").ok().stdout
    assert str(config) in shown and "no file" not in shown


def test_a_folder_that_cannot_be_made_is_named(handshake: Handshake) -> None:
    says(handshake.run("accounts", "--vault", "files:/proc/none/vault", HANDSHAKE_KEY_HOME="/proc/none"), 0)
    says(handshake.run("doctor", "--vault", "files:/proc/none/vault", HANDSHAKE_KEY_HOME="/proc/none"), 7,
         "the folder “/proc/none” cannot be created")


@pytest.mark.parametrize("command", ["watch", "scan"])
def test_a_radio_without_a_bus_is_bluetooths_and_waited_for(handshake: Handshake, command: str) -> None:
    done = handshake.run("nearby", command, "--duration", "0.5", DBUS_SYSTEM_BUS_ADDRESS="unix:path=/none")
    says(done, 6, "Bluetooth is not available: D-Bus does not answer at unix:path=/none (No such file or directory). "
                  "Start dbus; in a container, mount the system bus's socket. Waiting; stop with Ctrl-C.")


def test_a_person_is_named_as_the_user_wrote_it(handshake: Handshake) -> None:
    says(handshake.run("nearby", "show", "bob"), 64, "“bob” is not a profile number.")
    says(handshake.run("nearby", "show", "12"), 64, "Nothing is stored about number 12.")


@pytest.mark.parametrize(("files", "text"), [
    (["x"], "--file takes NAME=URL, not “x”."),
    (["x=zzz://y"], "--file “x=zzz://y”: the url must be an http, https or ftp URL without spaces or accented letters."),
])
def test_a_file_to_copy_is_named_with_its_option(handshake: Handshake, files: list[str], text: str) -> None:
    says(handshake.run("sequencing", "connect", "a@b.example", "--client-secret-file", "-", "--file", *files, stdin="s\n"), 64, text)


def test_the_services_are_as_many_as_the_pages_say(handshake: Handshake) -> None:
    services = handshake.run("services", "--json").ok().json["services"]
    assert f"the {len(services)} services" in (REPOSITORY / "README.md").read_text()


def test_without_a_client_id_the_command_for_a_server_of_ones_own_is_whole(handshake: Handshake, closed_mcp: Stranger) -> None:
    issuer = closed_mcp.issuer
    says(handshake.run("login", "work", "--issuer", issuer, "--scope", "a b"), 64,
         f"Register an app at {issuer}, with the redirect URI http://127.0.0.1/callback, and sign in with its identifier: "
         f"handshake login work --issuer {issuer} --scope 'a b' --client-id ID")


@pytest.mark.parametrize(("service", "options"), [
    ("github", "--client-id ID --client-secret-file FILE"), ("apple --set team=ABCDE12345", "--redirect URI --client-id ID --key FILE"),
    ("spotify", "--client-id ID")])
def test_without_a_client_id_the_command_has_what_the_service_demands(handshake: Handshake, service: str, options: str) -> None:
    done = handshake.run("login", *service.split())
    says(done, 64, f"handshake login {service} {options}\n")


@pytest.mark.parametrize(("words", "text"), [
    (["--issuer", "https://id.example"], "The name is missing. Choose one: handshake login NAME --issuer https://id.example"),
    ([], "Name the service: handshake login SERVICE."),
    (["https://mcp.example/mcp"], "handshake login NAME --issuer https://mcp.example/mcp; for an API that names its server, such as an MCP "
                                  "server: handshake login --resource https://mcp.example/mcp"),
    (["mine", "--issuer", "id.example:8443"], "not “id.example:8443”: write it with https://, or with http:// for this machine."),
    (["--resource", "127.0.0.1:8080/mcp"], "not “127.0.0.1:8080/mcp”: write it with https://, or with http:// for this machine."),
])
def test_a_first_command_that_is_almost_right_leads_to_the_right_one(handshake: Handshake, words: list[str], text: str) -> None:
    says(handshake.run("login", *words), 64, text)


def test_without_a_device_grant_the_command_with_a_browser_is_named_and_no_app_registered(handshake: Handshake, mcp: Stranger) -> None:
    before, command = registrations(mcp), f"handshake login mine --issuer {mcp.issuer}"
    says(handshake.run("login", "mine", "--issuer", mcp.issuer, "--device"), 64,
         f"{mcp.issuer} has no sign-in on another device. Sign in with a browser: {command}\n")
    says(handshake.run("login", "mine", "--issuer", mcp.issuer, "--client-id", "app", "--device"), 64,
         f"mine has no sign-in on another device. Sign in with a browser: {command} --client-id app\n")
    assert registrations(mcp) == before


def test_an_issuer_with_a_slash_too_many_is_told_how_it_is_written(handshake: Handshake, own_sandbox: StandIn) -> None:
    issuer = own_sandbox.standard["origin"]
    says(handshake.run("login", "mine", "--issuer", issuer + "/"), 5, f"write it without the slash at its end: {issuer}. Otherwise report it")


def test_an_app_is_registered_at_the_recurse_center(handshake: Handshake) -> None:
    says(handshake.run("login", "recurse-center"), 64, "Register an app with “Recurse Center”, with the redirect URI http://127.0.0.1/callback, and",
         "To try it without one, run: handshake sandbox")


def test_a_fault_rule_is_quoted_as_everything_is(handshake: Handshake) -> None:
    says(handshake.run("sandbox", "--fault", "foo"), 64,
         "A fault rule reads “[SERVICE] [METHOD] PATH => ACTION [#N] [xN]”, and “foo” has no “=>”.")
    assert "[#N]" in handshake.run("sandbox", "--help").ok().stdout


def test_a_position_source_is_waited_for_with_one_piece_of_advice(handshake: Handshake, tmp_path: Path) -> None:
    areas = tmp_path / "areas"
    areas.write_text('{"type": "FeatureCollection", "features": []}')
    for source, text in (("gpsd:none.invalid", "Waiting: gpsd at none.invalid:2947 cannot be reached: the host “none.invalid” is "
                                               "unknown. Check its spelling and the network."),
                         ("geoclue", "Check that dbus-daemon is running.")):
        watching = handshake.start("places", "watch", "--source", source, "--regions", str(areas),
                                   DBUS_SYSTEM_BUS_ADDRESS="unix:path=/none")
        end = time.monotonic() + 20
        while not any(line.startswith("Waiting:") for line in watching.lines["stderr"]) and time.monotonic() < end:
            time.sleep(0.05)
        watching.end()
        waiting = next(line for line in watching.lines["stderr"] if line.startswith("Waiting:"))
        assert text in waiting and "check that it runs" not in waiting
