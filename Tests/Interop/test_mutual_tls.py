"""Clients that authenticate by the certificate of their connection (RFC 8705), at the sandbox's endpoints for them."""

import shlex
from pathlib import Path

import pytest

from command import Handshake, secret_file
from stand_in import StandIn
from strangers import http

CLIENTS = {"sandbox-tls": [], "sandbox-self-signed-tls": ["--auth", "self-signed-tls"]}


def options(sandbox: StandIn, client: str, certificate: Path) -> list[str]:
    return ["mine", "--issuer", sandbox.standard["origin"], "--client-id", client, "--certificate", str(certificate), *CLIENTS[client],
            "--api-origin", sandbox.mutual_tls["origin"], "--scope", "openid api offline_access"]


def certificate(sandbox: StandIn, client: str, folder: Path) -> Path:
    known = {found["id"]: found["certificate"] for found in sandbox.standard["clients"]}
    return secret_file(folder / f"{client}.pem", known[client])


def trust(handshake: Handshake, sandbox: StandIn, folder: Path) -> None:
    authority = folder / "authority.pem"
    authority.write_text(sandbox.mutual_tls["authority"])
    handshake.environment["SSL_CERT_FILE"] = str(authority)


@pytest.mark.parametrize("client", CLIENTS)
def test_m308_a_certificate_signs_in_and_its_token_counts_on_it_alone(
        handshake: Handshake, own_sandbox: StandIn, tmp_path: Path, client: str) -> None:
    trust(handshake, own_sandbox, tmp_path)
    own_sandbox.complete(handshake.begin_login(*options(own_sandbox, client, certificate(own_sandbox, client, tmp_path))))
    api = own_sandbox.mutual_tls["origin"] + "/api/whoami"
    assert client in handshake.run("request", "GET", api, "--account", "mine").ok().stdout
    first = handshake.token("mine")
    assert handshake.run("token", "mine", "--min-valid", "3601").status == 64  # no token lives so long, so it is refreshed
    token = handshake.token("mine")
    assert token not in ("", first)
    for command in ("token", "headers"):
        told = handshake.run(command, "mine").ok()
        assert token in told.stdout and len(told.stderr.splitlines()) == 1
        assert "bound to the client's certificate" in told.stderr and "handshake request GET URL --account mine" in told.stderr
        vault = f"files:{handshake.home}/vault"
        named = handshake.run(command, "mine", "--vault", vault).ok()
        assert named.stderr.endswith(f" mine. Add to each command that uses the vault: --vault {shlex.quote(vault)}\n"), named
    bearer = {"Authorization": f"Bearer {token}"}
    assert http().get(own_sandbox.standard["origin"] + "/api/whoami", headers=bearer, timeout=10).status_code == 401
    assert client in handshake.run("request", "GET", api, "--account", "mine").ok().stdout


def test_the_certificate_of_another_client_is_refused(handshake: Handshake, own_sandbox: StandIn, tmp_path: Path) -> None:
    trust(handshake, own_sandbox, tmp_path)
    other = certificate(own_sandbox, "sandbox-self-signed-tls", tmp_path)
    # The pushed request is the first that the client authenticates.
    refused = handshake.run("login", *options(own_sandbox, "sandbox-tls", other), "--json")
    assert (refused.status, refused.error["code"]) == (4, "invalid_client"), refused
    assert handshake.accounts() == []


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_only_the_authorities_of_the_stated_file_are_trusted(
        handshake: Handshake, own_sandbox: StandIn, tmp_path: Path, content: str | None) -> None:
    path = certificate(own_sandbox, "sandbox-tls", tmp_path)
    refused = handshake.run("login", *options(own_sandbox, "sandbox-tls", path), "--json")
    assert (refused.status, refused.error["code"]) == (5, "tls_failed"), refused
    stated = tmp_path / "stated.pem"
    if content is not None:
        stated.write_text(content)
    handshake.environment["SSL_CERT_FILE"] = str(stated)
    refused = handshake.run("login", *options(own_sandbox, "sandbox-tls", path), "--json")
    assert refused.status == 5 and str(stated) in refused.error["message"], refused
