"""Fixtures: the strangers, the command, and the search for secrets after every test."""

import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import leaks
from command import Handshake, binary
from stand_in import StandIn
from strangers import Stranger

EXPIRING_SECONDS = 3
CANAILLE_SECONDS = 8

# All strangers at work: the secrets of each are looked for after every test.
running: list[Stranger] = []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def next_second() -> None:
    """Returns when the clock shows another second."""
    now = int(time.time())
    while int(time.time()) == now:
        time.sleep(0.01)


def start(name: str, folder: Path, **options: object) -> Iterator[Stranger]:
    if name == "django_oauth_toolkit" and not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    server = Stranger(name, folder, **options)  # type: ignore[arg-type]
    running.append(server)
    yield server
    running.remove(server)
    server.stop()


@pytest.fixture(scope="session")
def django(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """django-oauth-toolkit with its access tokens of ten hours."""
    yield from start("django_oauth_toolkit", tmp_path_factory.mktemp("django"))


@pytest.fixture(scope="session")
def expiring(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """django-oauth-toolkit whose access tokens live three seconds."""
    yield from start("django_oauth_toolkit", tmp_path_factory.mktemp("expiring"),
                     ACCESS_TOKEN_EXPIRE_SECONDS=EXPIRING_SECONDS)


@pytest.fixture(scope="session")
def mcp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """The Model Context Protocol's Python SDK, where apps register themselves."""
    yield from start("mcp_server", tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="session")
def other_mcp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """Another one of the same."""
    yield from start("mcp_server", tmp_path_factory.mktemp("other-mcp"))


@pytest.fixture(scope="session")
def closed_mcp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """The same, which registers no apps."""
    yield from start("mcp_server", tmp_path_factory.mktemp("closed-mcp"), registration=False)


@pytest.fixture(scope="session")
def lenient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """oidc-provider-mock: any client, PKCE not announced, one key, which no ID token names."""
    yield from start("oidc_mock", tmp_path_factory.mktemp("lenient"))


@pytest.fixture(scope="session")
def lenient_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stranger]:
    """The same, which knows only the clients that have registered themselves."""
    yield from start("oidc_mock", tmp_path_factory.mktemp("lenient-registry"), registration=True)


@pytest.fixture(scope="session")
def canaille_port() -> int:
    """The only loopback port that canaille lets a client listen on."""
    return free_port()


@pytest.fixture(scope="session")
def canaille_server(tmp_path_factory: pytest.TempPathFactory, canaille_port: int) -> Iterator[Stranger]:
    """canaille, with access tokens of eight seconds; its refresh tokens live no longer."""
    grants = ("authorization_code", "refresh_token", "client_credentials")
    yield from start("canaille_provider", tmp_path_factory.mktemp("canaille"),
                     redirect_uris=(f"http://127.0.0.1:{canaille_port}/callback",),
                     OAUTH2_TOKEN_EXPIRES_IN=dict.fromkeys(grants, CANAILLE_SECONDS))


@pytest.fixture
def canaille(canaille_server: Stranger) -> Stranger:
    """canaille, in a second of the clock in which it has given out no token: it stumbles over two (test_canaille.py)."""
    next_second()
    return canaille_server


@pytest.fixture
def handshake(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Handshake]:
    """The built command with an empty home. Afterwards: none of the strangers' secrets was printed or lies in the home."""
    path = binary()
    if path is None:
        pytest.skip("handshake is not built: set HANDSHAKE_BIN or run `swift build` (.build/debug/handshake is missing)")
    command = Handshake(path, tmp_path / "home")
    yield command
    command.end()
    keep_output(request.node.name, command)
    secrets = {secret for server in running for secret in server.secrets()}
    assert not leaks.found_in(command.printed(), secrets), "a secret was printed"
    assert not leaks.found_in_folder(command.home, secrets), "a secret lies in clear in the command's home"


def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    path = binary()
    if path is None:
        pytest.skip("handshake is not built: set HANDSHAKE_BIN or run `swift build` (.build/debug/handshake is missing)")
    command = Handshake(path, tmp_path_factory.mktemp("sandbox") / "home")
    yield StandIn(command)
    command.end()


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """A sandbox of the command's own; what is asked of it is for one test at a time."""
    yield from stand_in(tmp_path_factory)


@pytest.fixture(scope="module")
def own_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    """A module's own: tests put the clock of the shared one forward, and ID tokens and proofs state a time."""
    yield from stand_in(tmp_path_factory)


@pytest.fixture
def genome(sandbox: StandIn) -> Iterator[StandIn]:
    """Sequencing.com's stand-in, without faults and without a past."""
    sandbox.reset()
    yield sandbox
    sandbox.reset()


@pytest.fixture
def ada(handshake: Handshake, genome: StandIn) -> Iterator[Handshake]:
    """The command, signed in as a person with files. Afterwards: her token was not printed and lies nowhere in clear."""
    genome.sign_in(handshake)
    token = handshake.token("sequencing")
    yield handshake
    assert not leaks.found_in(handshake.printed(), [token]), "a token was printed"
    assert not leaks.found_in_folder(handshake.home, [token]), "a token lies in clear in the command's home"


def keep_output(test: str, command: Handshake) -> None:
    """What the command printed goes where `scan_output.py` searches the whole run."""
    folder = os.environ.get("HANDSHAKE_OUTPUT_DIR")
    if folder:
        with (Path(folder) / "interop-commands.log").open("ab") as log:
            log.write(f"== {test}\n".encode() + command.printed())
