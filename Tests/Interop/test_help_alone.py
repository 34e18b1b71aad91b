"""A new user signs in with one command: an example of `handshake login --help` with values of their own, and with options that stand in
the same text. Nothing else is prepared: no settings, no variable, no account."""

import re
from pathlib import Path

import pytest

from command import Finished, Handshake, secret_file
from service_twin import SECRET, twin
from stand_in import StandIn
from strangers import Stranger, http
from test_mcp import call, complete, registrations

# What the fixture sets to keep a test to itself. None of it tells of a service or a client.
ISOLATION = {"PATH", "TMPDIR", "LD_LIBRARY_PATH", "HANDSHAKE_HOME", "HOME", "LANG", "TERM"}


def from_help(handshake: Handshake, example: str, values: dict[str, str], *more: str) -> list[str]:
    """An example's words after `login`, with these values in place of its own, and more options. Only files that they name are there."""
    text = handshake.run("login", "--help").ok().stdout
    assert f"\n  handshake login {example}\n" in text, text
    assert values.keys() <= set(example.split())
    words = [*(values.get(word, word) for word in example.split()), *more]
    files = {str(file) for file in Path(handshake.environment["HOME"]).rglob("*") if file.is_file()}
    assert files <= set(words), "a file stands ready that no option names"
    return words


def check_one_command(handshake: Handshake, done: Finished, account: str, *, says_who: bool = True) -> str:
    """All that was run is the help and one sign-in, whose options the help prints. The token of the account that it left.

    A server of OpenID Connect, and a service that has a page for it, says who has signed in."""
    assert done.json["account"] == account
    assert bool(done.json["subject"]) == says_who, done
    (help, _), (login, _) = handshake.started
    heads = re.findall(r"^  (-.*?)(?:  |$)", "".join(help.lines["stdout"]).partition("\nOPTIONS:\n")[2], re.MULTILINE)
    printed = {option for head in heads for option in re.findall(r"--[a-z0-9-]+", head)}
    assert isinstance(login.process.args, list)
    used = {str(word) for word in login.process.args if str(word).startswith("--")}
    assert used <= printed, f"not in the help: {used - printed}"
    assert handshake.environment.keys() <= ISOLATION
    assert [(found["account"], found["state"]) for found in handshake.accounts()] == [(account, "signed_in")]
    return handshake.token(account)


def test_a_user_signs_in_to_a_server_of_their_own(handshake: Handshake, django: Stranger) -> None:
    words = from_help(handshake, "mine --issuer https://id.example --client-id ID", {"https://id.example": django.issuer, "ID": "native"})
    done = handshake.begin_login(None, *words).complete(django).ok()
    assert django.is_active(check_one_command(handshake, done, "mine"))
    assert done.json["scope"] == "openid profile"


def test_a_user_describes_a_service_of_their_own(handshake: Handshake, django: Stranger) -> None:
    shown = handshake.run("services", "--help").ok().stdout
    table = re.search(r"^  \[services\.mine\]\n(?:  \S.*\n)+", shown, re.MULTILINE)
    assert table and "handshake doctor names the file" in " ".join(shown.split()), shown
    place = re.search(r"optional: (\S+)", handshake.run("doctor").stdout)
    assert place
    Path(place[1]).parent.mkdir(mode=0o700, exist_ok=True)
    secret_file(Path(place[1]), table[0].replace("https://id.example", django.issuer).replace("ID", "native"))
    assert handshake.begin_login("mine").complete(django).ok().json["account"] == "mine"


def test_a_user_signs_in_to_a_server_that_registers_the_app(handshake: Handshake, mcp: Stranger) -> None:
    before = registrations(mcp)
    words = from_help(handshake, "mine --issuer https://id.example", {"https://id.example": mcp.issuer})
    assert check_one_command(handshake, complete(handshake.begin_login(None, *words)), "mine", says_who=False)
    assert registrations(mcp) == before + 1


def test_a_user_signs_in_with_a_client_that_has_the_device_grant_alone(handshake: Handshake, own_sandbox: StandIn) -> None:
    facts, client = own_sandbox.standard, "sandbox-device"
    words = from_help(handshake, "mine --issuer https://id.example --client-id ID --device",
                      {"https://id.example": facts["origin"], "ID": client})
    running = handshake.start("login", *words, "--json", "--timeout", "60")
    code, address = running.line().split(" ")
    form = {"user_code": code, "op": "Allow", "email": facts["users"][0]["name"], "password": facts["users"][0]["password"]}
    assert "Access allowed" in http().post(address, data=form, timeout=10).text
    assert check_one_command(handshake, running.finish().ok(), "mine")
    browser = {"response_type": "code", "client_id": client, "redirect_uri": "http://127.0.0.1/callback"}
    assert http().get(facts["origin"] + "/authorize", params=browser, timeout=10, allow_redirects=False).status_code == 400


def test_a_user_signs_in_with_the_command_for_devices_that_the_sandbox_prints(handshake: Handshake) -> None:
    sandbox = handshake.start("sandbox")
    lines = iter(sandbox.line, "")
    origin = next(line for line in lines if line.startswith("standard ")).split()[1]
    user = next(line for line in lines if line.startswith("  user ")).split()
    words = next(line for line in lines if line.startswith("  try ") and line.endswith(" --device")).split()[2:]
    running = handshake.start(*words, "--json", "--timeout", "60")
    code, address = running.line().split(" ")
    assert address.startswith(origin)
    form = {"user_code": code, "op": "Allow", "email": user[1], "password": user[3]}
    assert "Access allowed" in http().post(address, data=form, timeout=10).text
    assert running.finish().ok().json["account"] == "device"


def test_the_sandbox_says_where_the_key_file_of_its_service_account_is(handshake: Handshake) -> None:
    lines = iter(handshake.start("sandbox").line, "")
    origin = next(line for line in lines if line.startswith("standard ")).split()[1]
    public, robot, device = [next(line for line in lines if line.startswith(f"  client  {name}"))
                             for name in ("sandbox-public ", "sandbox-robot@", "sandbox-device ")]
    assert public.endswith("  public") and device.endswith("  public")
    address = f"{origin}/_sandbox/service-account"
    assert robot.endswith(f"  signs; its key file is at {address}")
    assert http().get(address, timeout=60).json()["client_email"] in robot


def test_a_user_signs_in_to_an_mcp_server_that_demands_registration(handshake: Handshake, mcp: Stranger) -> None:
    before = registrations(mcp)
    words = from_help(handshake, "--resource https://mcp.example/mcp", {"https://mcp.example/mcp": mcp.facts["resource"]})
    assert check_one_command(handshake, complete(handshake.begin_login(None, *words)), "127-0-0-1-mcp", says_who=False)
    assert registrations(mcp) == before + 1
    assert call(handshake, mcp, "127-0-0-1-mcp") == "42"


# GitHub takes the secret in the form, Notion in Basic and beside a header of its own; Spotify serves clients without one.
@pytest.mark.parametrize("name", ["github", "notion", "spotify"])
def test_a_user_signs_in_to_a_service_by_its_name(handshake: Handshake, tmp_path: Path, name: str) -> None:
    # The twin is made from what another home is told, so that the user's stays new.
    facts = Handshake(handshake.path, tmp_path / "elsewhere/home").run("services", "show", name, "--json").ok().json
    is_public = facts.get("client_authentication") is None and facts.get("public_clients", False)
    if not is_public:
        secret_file(tmp_path / "secret", SECRET)
    with twin(facts) as service:
        example, values = ("spotify --client-id ID", {"spotify": name}) if is_public else (
            "github --client-id ID --client-secret-file FILE", {"github": name, "FILE": str(tmp_path / "secret")})
        words = from_help(handshake, example, values | {"ID": "app"}, "--base-url", service.origin)
        done = complete(handshake.begin_login(None, *words))
        assert check_one_command(handshake, done, name) == "canary-access-1"
        assert service.problems == []
