"""`handshake sandbox --service NAME`: a stand-in of a service by name, and the one command that signs in to it."""

import shlex
import signal
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

import formlogin
from command import Handshake, Login, Running, binary, dict_of
from strangers import http

# GitHub answers in a form, with errors in a 200, and demands a field; Google has OpenID Connect, and keeps refresh tokens; Keycloak has
# places, and serves clients without a secret; Slack's token lies in a member, and its scopes have a name of their own; Notion takes JSON
# and Basic.
SERVICES = ("github", "google", "keycloak", "slack", "notion")
USER = ("ada@example.test", "nothing-is-real")
SUBJECT = "248289761001"


@dataclass
class Imitations:
    """A running sandbox, and the words of the command that it prints for each service."""

    running: Running
    commands: dict[str, list[str]]

    def origin(self, name: str) -> str:
        return self.option(name, "--base-url")

    def option(self, name: str, option: str) -> str:
        words = self.commands[name]
        return words[words.index(option) + 1]


def started(command: Handshake, *names: str, faults: Iterable[str] = ()) -> Imitations:
    options = [word for name in names for word in ("--service", name)] + [word for rule in faults for word in ("--fault", rule)]
    running = command.start("sandbox", *options)
    commands: dict[str, list[str]] = {}
    while not commands.keys() >= set(names):
        line = running.line().split(maxsplit=1)
        if line[0] == "try" and line[1].startswith("handshake login "):
            words = shlex.split(line[1])
            commands[words[2]] = words
    return Imitations(running, commands)


@pytest.fixture(scope="module")
def imitations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imitations]:
    path = binary()
    if path is None:
        pytest.skip("handshake is not built: set HANDSHAKE_BIN or run `swift build` (.build/debug/handshake is missing)")
    command = Handshake(path, tmp_path_factory.mktemp("imitations") / "home")
    yield started(command, *SERVICES)
    command.end()


def typed(handshake: Handshake, imitations: Imitations, name: str) -> Login:
    """The printed command as it is, but that no browser opens."""
    assert imitations.commands[name][:3] == ["handshake", "login", name]
    return handshake.begin_login(name, *imitations.commands[name][3:])


@pytest.mark.parametrize("name", SERVICES)
def test_the_printed_command_signs_in_to_a_services_stand_in(handshake: Handshake, imitations: Imitations, name: str) -> None:
    login = typed(handshake, imitations, name)
    redirect = formlogin.walk(login.url, *USER)
    assert login.deliver(urlencode(dict_of(urlsplit(redirect).query))).status_code == 200
    done = login.finish().ok()
    assert (done.json["account"], done.json["subject"]) == (name, SUBJECT), done
    facts = handshake.run("services", "show", name, "--json").ok().json
    address = imitations.origin(name) + urlsplit(facts["userinfo_url"].replace("{realm}", "master")).path
    if "api_origins" in facts:
        assert "Ada Example" in handshake.run("request", "GET", address, "--account", name).ok().stdout
    token = handshake.token(name)
    assert done.json["refreshable"] == (name in ("google", "keycloak", "notion")), done
    if name in ("google", "keycloak"):
        # No token lives so long, so it is refreshed.
        assert handshake.run("token", name, "--min-valid", "3601").status == 64
        assert handshake.token(name) != token
        token = handshake.token(name)
        handshake.run("logout", name).ok()
        assert handshake.accounts() == []
        after = http().get(address, headers={"Authorization": f"Bearer {token}"}, timeout=10)
        assert after.status_code == 401 and "demands a valid token" in after.text


@pytest.mark.parametrize("name", ["github", "google"])
def test_a_user_who_declines_at_a_stand_in_is_status_2(handshake: Handshake, imitations: Imitations, name: str) -> None:
    login = typed(handshake, imitations, name)
    redirect = formlogin.walk(login.url, *USER, consent=False)
    login.deliver(urlencode(dict_of(urlsplit(redirect).query)))
    done = login.finish()
    assert (done.status, done.error["code"]) == (2, "access_denied"), done
    assert handshake.accounts() == []


def test_the_secret_lies_in_a_file_of_the_user_alone_and_goes_with_the_sandbox(handshake: Handshake) -> None:
    imitations = started(handshake, "github")
    file = Path(imitations.option("github", "--client-secret-file"))
    secret = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    imitations.running.process.send_signal(signal.SIGINT)
    assert imitations.running.finish().status == 130
    assert not file.parent.exists()
    assert len(secret) > 8 and secret.encode() not in handshake.printed(), "the secret was printed"


@pytest.mark.parametrize(("names", "words"), [
    (["gihtub"], "There is no service “gihtub”. Did you mean “github”?"),
    (["apple"], "its clients sign what they authenticate with."),
    (["starling"], "the token endpoint demands mutual TLS"),
    (["recurse-center"], "“recurse-center” is in every sandbox, without --service."),
    (["github", "github"], "--service github is given twice."),
    (["github", "google", "slack", "notion", "figma", "twitch"], "--service can be given 5 times at most."),
], ids=["near", "signs", "unsupported", "own", "twice", "many"])
def test_a_service_that_cannot_be_imitated_is_refused_with_the_reason(handshake: Handshake, names: list[str], words: str) -> None:
    refused = handshake.run("sandbox", *(word for name in names for word in ("--service", name)), seconds=10)
    assert refused.status == 64 and refused.stdout == "", refused
    assert words in refused.stderr, refused


def test_a_service_of_the_settings_is_refused_since_login_would_not_take_the_address(handshake: Handshake) -> None:
    handshake.home.mkdir(parents=True, exist_ok=True)
    (handshake.home / "config.toml").write_text(
        '[services.mine]\nauthorize-url = "https://id.example/a"\ntoken-url = "https://id.example/t"\n')
    refused = handshake.run("sandbox", "--service", "mine", seconds=10)
    assert refused.status == 64 and "config.toml describes it" in refused.stderr, refused


@pytest.mark.parametrize(("name", "is_imitated"), [("github", True), ("apple", False)])
def test_who_has_no_app_is_told_how_to_try_the_service_without_one(handshake: Handshake, name: str, is_imitated: bool) -> None:
    team = ["--set", "team=DEF123GHIJ"] if name == "apple" else []
    refused = handshake.run("login", name, *team)
    assert refused.status == 64 and " --client-id ID" in refused.stderr, refused
    assert (f"\nTo try it without an app, run: handshake sandbox --service {name}\n" in refused.stderr) == is_imitated, refused


def test_a_fault_of_an_imitated_service_is_injected_by_its_name(handshake: Handshake) -> None:
    imitations = started(handshake, "github", faults=["github /user => status 503"])
    assert http().get(imitations.origin("github") + "/user", timeout=10).status_code == 503


def test_a_sandbox_that_its_test_ends_leaves_no_secret(handshake: Handshake) -> None:
    file = Path(started(handshake, "github").option("github", "--client-secret-file"))
    assert file.exists()
    handshake.end()
    assert not file.parent.exists()
