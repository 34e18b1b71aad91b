"""The command built with SQLite and PostgreSQL: what the README and the guides say of vaults in databases.

`Tests/check-database-command` builds what this needs and runs it; the name keeps it out of the other runs, whose command has no databases.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import formlogin
from command import Finished, Handshake, Running
from conftest import free_port
from stand_in import StandIn
from strangers import REPOSITORY, http

PASSWORD = "never-shown-hunter2"


class Database:
    """A PostgreSQL server of a test's own: on loopback, its data in a folder that goes with it."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.port = free_port()
        self.programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        # It refuses to run for root, and ends with the tests, also when they are killed.
        self.user = ["--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
        data = f"{self.folder}/data"
        self._run("initdb", "--no-sync", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D", data)
        # The role `secretive` needs a password.
        rules = "host all secretive 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
        Path(f"{data}/pg_hba.conf").write_text(rules)
        settings = ["listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories=", "fsync=off"]
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig=INT", *self.user, self.programs / "postgres", "-D", data,
             *[word for setting in settings for word in ("-c", setting)]],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(Path(self.folder) / "log").open("wb"), cwd="/")
        end = time.monotonic() + 60
        while self._run("pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port), check=False):
            assert self.process.poll() is None and time.monotonic() < end, (Path(self.folder) / "log").read_text()
            time.sleep(0.05)
        self.sql("CREATE ROLE app LOGIN", f"CREATE ROLE secretive LOGIN PASSWORD '{PASSWORD}-not'",
                 "CREATE DATABASE vault OWNER app")

    def _run(self, program: str, *arguments: str, check: bool = True) -> int:
        command = ["setpriv", *self.user] if self.user else []
        done = subprocess.run([*command, self.programs / program, *arguments], stdin=subprocess.DEVNULL, cwd="/",
                              capture_output=True, text=True, timeout=100)
        assert done.returncode == 0 or not check, done.stderr
        return done.returncode

    def sql(self, *statements: str, role: str = "postgres", database: str = "postgres") -> None:
        for statement in statements:
            self._sql(statement, role, database)

    def _sql(self, statement: str, role: str, database: str, check: bool = True) -> int:
        return self._run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U", role,
                         "-d", database, "-c", statement, check=check)

    @contextmanager
    def running_sql(self, sql: str, database: str) -> Iterator[None]:
        """Runs statements beside the test, the last of which sleeps, until the test has what it wants."""
        command = ["setpriv", "--pdeathsig=KILL", *self.user, self.programs / "psql", "-q", "-h", "127.0.0.1",
                   "-p", str(self.port), "-U", "postgres", "-d", database, "-c", sql]
        beside = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/")
        asleep = f"SELECT 1 / count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = '{database}'"
        end = time.monotonic() + 60
        try:
            while self._sql(asleep, "postgres", "postgres", check=False):
                assert beside.poll() is None and time.monotonic() < end
                time.sleep(0.05)
            yield
        finally:
            self.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
            beside.wait(30)

    @property
    def address(self) -> str:
        """What stands for `db.example.com` in the guides."""
        return f"127.0.0.1:{self.port}"

    @property
    def vault(self) -> str:
        return f"postgres:postgresql://app@{self.address}/vault"

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)
        shutil.rmtree(self.folder)


@pytest.fixture
def database() -> Iterator[Database]:
    running = Database()
    yield running
    running.stop()


class Guide:
    """A page, with this test's folders and database in place of the examples'."""

    def __init__(self, page: str, folder: Path, database: Database) -> None:
        text = (REPOSITORY / page).read_text()
        for example, own in (("/var/lib/app", f"{folder}/data"), ("/etc/app", f"{folder}/config"),
                             ("db.example.com", database.address)):
            text = text.replace(example, own)
        self.text, self.database = text, database

    def one(self, pattern: str) -> tuple[str, ...]:
        [found] = set(re.findall(pattern, self.text))
        return found

    @property
    def files(self) -> dict[str, str]:
        """The settings of `Tests/Consumers/SeveralMachines` for the vault that a server has before."""
        vault, key = self.one(r'FileVault\(directory: "([^"]+)", keyFile: "([^"]+)"\)')
        return {"VAULT": vault, "KEY_FILE": key}

    @property
    def shared(self) -> dict[str, str]:
        """The same for the vault that it has afterwards."""
        connection, folder = self.one(r'PostgresVault\.open\("([^"]+)", keyFolder: "([^"]+)"\)')
        return {"DATABASE": connection, "KEY_FOLDER": folder}

    def blocks(self, language: str) -> list[list[str]]:
        """The lines of each block of code in a language."""
        parts = re.split(r"(?m)^ *```(\w*)$", self.text)
        # Between texts stand the mark that opens a block, its lines, and the mark that closes it.
        return [[line.strip() for line in code.strip().splitlines()]
                for opening, code in zip(parts[1::4], parts[2::4]) if opening == language]

    @property
    def commands(self) -> list[str]:
        """The lines of the block that moves accounts to PostgreSQL."""
        [lines] = [lines for lines in self.blocks("") if "vault copy" in "\n".join(lines) and "postgres:" in "\n".join(lines)]
        assert [line.split()[:3] for line in lines if line.startswith("handshake")] == [
            ["handshake", "vault", "migrate"], ["handshake", "vault", "copy"]]
        return lines

    def run(self, handshake: Handshake, home: Path, roles: "Guide | None" = None) -> Finished:
        """Types them, in a shell of a user with this home. The administrator does what is said of roles before and after the first."""
        migrate = next(number for number, line in enumerate(self.commands) if "vault migrate" in line) + 1
        script, marks = self.commands, [home / "migrated", home / "granted"]
        home.mkdir(exist_ok=True)
        if roles:
            roles.grant(before=True)
            script = [*script[:migrate], f"touch {marks[0]}; while [ ! -e {marks[1]} ]; do sleep 0.05; done", *script[migrate:]]
        environment = {name: value for name, value in handshake.environment.items() if name != "HANDSHAKE_HOME"}
        environment |= {"HOME": str(home), "PATH": f"{handshake.path.parent}:{environment['PATH']}"}
        shell = handshake._keep(Running(["sh", "-eu", "-c", "\n".join(script)], environment, None), False)
        if roles:
            while shell.is_running() and not marks[0].exists():
                time.sleep(0.05)
            assert shell.is_running(), shell.finish()
            roles.grant(before=False)
            marks[1].touch()
        return shell.finish()

    def grant(self, before: bool) -> None:
        """The roles that `Vaults.md` describes."""
        [lines] = self.blocks("sql")
        first, second, third = re.split(r"(?m)^--.*\n", "\n".join(lines))
        if before:
            self.database.sql(*self.statements(first))
        else:
            self.database.sql(*self.statements(second), role="vault_admin", database="vault")
            self.database.sql(*self.statements(third))

    @staticmethod
    def statements(text: str) -> list[str]:
        return [statement.strip() for statement in text.split(";") if statement.strip()]


class Server:
    """`Tests/Consumers/SeveralMachines`: the guide's server, and its user's browser."""

    def __init__(self, settings: dict[str, str], sandbox: StandIn, folder: Path) -> None:
        (folder / "config").mkdir(mode=0o700, exist_ok=True)
        self.origin = f"http://127.0.0.1:{(port := free_port())}"
        environment = {name: os.environ[name] for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ}
        environment |= settings | {"SANDBOX": sandbox.other["origin"], "PORT": str(port), "HOME": str(folder)}
        self.running = Running([os.environ["HANDSHAKE_SERVER"]], environment, None)
        self.sandbox = sandbox
        assert self.running.line(60) == "listening"
        assert http().get(f"{self.origin}/ready", timeout=60).text == '{"status":"ready"}'

    def connect(self, user: str) -> None:
        """The user connects an account of the Recurse Center."""
        browser = http()
        browser.cookies.set("session", user)
        token = browser.get(f"{self.origin}/connect/recurse-center", timeout=20).json()["token"]
        start = browser.post(f"{self.origin}/connect/recurse-center/start", data={"token": token}, timeout=20, allow_redirects=False)
        person = self.sandbox.other["users"][0]
        redirect = formlogin.walk(start.headers["Location"], person["name"], person["password"])
        assert redirect.startswith(f"{self.origin}/connect/recurse-center/callback?"), redirect
        assert browser.get(redirect, timeout=20, allow_redirects=False).status_code == 303

    def name(self, user: str) -> str:
        """What the server's page says of the user's account."""
        answer = http().get(f"{self.origin}/name", headers={"Cookie": f"session={user}"}, timeout=60)
        return answer.text if answer.status_code == 200 else f"status {answer.status_code}"

    def stop(self) -> None:
        self.running.process.terminate()
        assert self.running.finish().status == 0


def control(service: dict, method: str, path: str) -> str:
    answer = http().request(method, f"{service['origin']}/_sandbox/{path}", timeout=10)
    assert answer.status_code < 300, answer.text
    return answer.text


def refreshes(service: dict) -> int:
    """How many refreshes the service has answered, of one account."""
    lines = [json.loads(line) for line in control(service, "GET", "requests").splitlines()]
    return len([line for line in lines if line.get("grant_type") == "refresh_token"])


@pytest.fixture
def quiet(sandbox: StandIn) -> StandIn:
    sandbox.reset()
    return sandbox


# From files to PostgreSQL


@pytest.mark.parametrize(("page", "owner"), [
    ("README.md", "app"), ("Documentation/SeveralMachines.md", None), ("Documentation/SeveralMachines.md", "app"),
], ids=["of the README", "with two roles", "with a single role"])
def test_the_two_commands_move_the_accounts_of_the_server(
        page: str, owner: str | None, handshake: Handshake, quiet: StandIn, database: Database, tmp_path: Path) -> None:
    guide = Guide(page, tmp_path, database)
    if owner:
        guide.text = re.sub("vault_(admin|app)", owner, guide.text)
    roles = None if owner else Guide("Documentation/Vaults.md", tmp_path, database)
    before = Server(guide.files, quiet, tmp_path)
    try:
        before.connect("ada")
        name = before.name("ada")
        assert name.startswith("Ada"), name
    finally:
        before.stop()
    guide.run(handshake, tmp_path / "user", roles).ok()
    control(quiet.other, "POST", "expire-access-tokens")
    for _ in ("one machine", "after it another"):
        after = Server(guide.shared, quiet, tmp_path)
        try:
            assert after.name("ada") == name
            assert after.name("grace") == "status 404"
        finally:
            after.stop()
    assert refreshes(quiet.other) == 1


def test_the_two_commands_move_the_accounts_of_the_command(
        handshake: Handshake, quiet: StandIn, database: Database, tmp_path: Path) -> None:
    home = tmp_path / "user"
    handshake.environment |= {"HANDSHAKE_HOME": "", "HOME": str(home)}
    quiet.sign_in_elsewhere(handshake)
    guide = Guide("Documentation/Vaults.md", tmp_path, database)
    guide.run(handshake, home, roles=guide).ok()
    shutil.rmtree(home / ".local/share/handshake/vault")
    shared = f"postgres:postgresql://vault_app@{database.address}/vault"
    used = handshake.run("request", "GET", "profiles/me", "--account", "recurse-center", "--vault", shared).ok()
    assert "Ada" in used.stdout


def test_a_copy_of_an_apps_vault_without_its_key_names_the_option(
        handshake: Handshake, quiet: StandIn, database: Database, tmp_path: Path) -> None:
    guide = Guide("Documentation/SeveralMachines.md", tmp_path, database)
    Server(guide.files, quiet, tmp_path).stop()
    handshake.run("vault", "migrate", "--vault", database.vault).ok()
    done = handshake.run("vault", "copy", f"files:{guide.files['VAULT']}", database.vault, "--json")
    assert done.status == 7 and done.error["code"] == "vault_locked" and "--from-key" in done.error["message"], done


# From vault to vault


def keyring() -> Iterator[str]:
    """The address of a session bus with an unlocked keyring on it."""
    # Its folder holds a socket, whose path must be short.
    short = tempfile.mkdtemp()
    environment = {"PATH": os.environ["PATH"], "HOME": short, "XDG_RUNTIME_DIR": short}
    # Unless stated, its socket is in /tmp.
    bus = Running(["dbus-daemon", "--session", f"--address=unix:dir={short}", "--nofork", "--print-address"], environment, None)
    address = bus.line()
    assert address.startswith(f"unix:path={short}/"), address
    daemon = Running(["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"],
                     environment | {"DBUS_SESSION_BUS_ADDRESS": address}, "test-password")
    yield address
    daemon.end()
    bus.end()
    shutil.rmtree(short)


@pytest.fixture
def desktop() -> Iterator[str | None]:
    missing = [name for name in ("dbus-daemon", "gnome-keyring-daemon") if not shutil.which(name)]
    if missing and os.environ.get("CI") != "true":
        yield None
    else:
        assert not missing, missing
        yield from keyring()


def checked(handshake: Handshake, vault: str) -> tuple[int, list]:
    """The number of records that `vault check` has read, and what `vault stats` counts of each kind."""
    check = handshake.run("vault", "check", "--vault", vault, "--json").ok().json
    stats = handshake.run("vault", "stats", "--vault", vault, "--json").ok().json
    assert check["healthy"] is True and check["unreadable"] == 0 and check["failures"] == [], check
    assert stats["unreadable"] == 0 and stats["records"] == check["records"], (check, stats)
    assert all(stats[total] == sum(kind[total] for kind in stats["kinds"]) for total in ("records", "bytes")), stats
    assert stats["vault"].split(":")[0] == vault.split(":")[0], stats
    return check["records"], [(kind["kind"], kind["records"], kind["bytes"]) for kind in stats["kinds"]]


def test_accounts_survive_the_way_through_every_vault(
        handshake: Handshake, quiet: StandIn, database: Database, desktop: str | None, tmp_path: Path) -> None:
    quiet.sign_in(handshake)
    quiet.sign_in_elsewhere(handshake)
    vaults = [f"files:{handshake.home}/vault", database.vault, f"sqlite:{tmp_path}/accounts.sqlite"]
    if desktop:
        handshake.environment["DBUS_SESSION_BUS_ADDRESS"] = desktop
        vaults.append("secret-service")
    vaults.append(f"files:{tmp_path}/last")
    count, _ = checked(handshake, vaults[0])
    assert count >= 4, count
    for way, (old, new) in enumerate(zip(vaults, vaults[1:]), start=1):
        if new.startswith(("postgres", "sqlite")):
            missing = handshake.run("vault", "copy", old, new, "--json")
            assert missing.status == 7 and "vault migrate" in missing.error["message"], missing
            handshake.run("vault", "migrate", "--vault", new).ok()
        contents = checked(handshake, old)
        for copied in (contents[0], 0):
            report = handshake.run("vault", "copy", old, new, "--json").ok().json
            assert report == {"copied": copied, "present": contents[0] - copied, "different": 0, "failed": 0,
                              "failures": []}, report
        assert checked(handshake, new) == contents
        # The new vault alone has what a refresh stores, which the next copy takes on.
        control(quiet.other, "POST", "expire-access-tokens")
        used = handshake.run("request", "GET", "profiles/me", "--account", "recurse-center", "--vault", new).ok()
        assert "Ada" in used.stdout and refreshes(quiet.other) == way
    for account in ("sequencing", "recurse-center"):
        assert handshake.run("token", account, "--vault", vaults[-1]).ok().stdout.strip()
    differs = handshake.run("vault", "copy", vaults[-1], vaults[1], "--json")
    assert differs.status == 7 and differs.error["code"] == "vault_different" and differs.json["different"] >= 1, differs


def test_one_database_with_two_addresses_is_the_same_vault(handshake: Handshake, database: Database) -> None:
    handshake.run("vault", "migrate", "--vault", database.vault).ok()
    for other in (database.vault, database.vault + "?application_name=other"):
        done = handshake.run("vault", "copy", database.vault, other)
        assert done.status == 64 and "FROM and TO are the same vault" in done.stderr, done


# Keys


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
def test_a_new_key_seals_every_record_and_the_old_one_is_needed_no_longer(
        kind: str, handshake: Handshake, quiet: StandIn, database: Database, tmp_path: Path) -> None:
    vault = database.vault if kind == "postgres" else f"sqlite:{tmp_path}/accounts.sqlite"
    handshake.environment |= {"HANDSHAKE_VAULT": vault, "HANDSHAKE_KEY_HOME": f"{tmp_path}/keys"}
    keys = tmp_path / "keys"
    handshake.run("vault", "migrate").ok()
    [old] = keys.iterdir()
    quiet.sign_in_elsewhere(handshake)
    before = checked(handshake, vault)
    rotated = handshake.run("vault", "rotate-key", "--json").ok()
    assert rotated.json["resealed"] == before[0] and rotated.json["retired"] == [1], rotated
    assert rotated.json["failed"] == 0 and rotated.json["failures"] == [], rotated
    new = [key for key in keys.iterdir() if key != old]
    assert len(new) == 1 and (kind == "sqlite" or new[0].name in rotated.stderr), rotated
    old.unlink()
    assert checked(handshake, vault) == before
    assert handshake.run("token", "recurse-center").ok().stdout.strip()
    new[0].unlink()
    assert handshake.run("token", "recurse-center").status == 7


def test_a_rotation_that_cannot_be_finished_has_named_its_key(
        handshake: Handshake, quiet: StandIn, database: Database, tmp_path: Path) -> None:
    handshake.environment |= {"HANDSHAKE_VAULT": database.vault, "HANDSHAKE_KEY_HOME": f"{tmp_path}/keys"}
    keys = tmp_path / "keys"
    handshake.run("vault", "migrate").ok()
    [old] = keys.iterdir()
    quiet.sign_in_elsewhere(handshake)
    # The old key cannot be retired: another writer never ends its transaction.
    held = "BEGIN; LOCK TABLE handshake.record IN ROW EXCLUSIVE MODE; SELECT pg_sleep(100)"
    with database.running_sql(held, database="vault"):
        stopped = handshake.run("vault", "rotate-key")
    [new] = [key for key in keys.iterdir() if key != old]
    assert stopped.status == 7 and new.name in stopped.stderr, stopped
    completed = handshake.run("vault", "rotate-key", "--json").ok()
    assert completed.json["resumed"] and completed.json["retired"] == [1] and new.name in completed.stderr, completed


# The keeper


def test_the_keeper_refreshes_and_a_request_to_terminate_ends_it_in_order(
        handshake: Handshake, quiet: StandIn, database: Database) -> None:
    handshake.environment["HANDSHAKE_VAULT"] = database.vault
    handshake.run("vault", "migrate").ok()
    quiet.sign_in_elsewhere(handshake)
    keeping = handshake.start("keep", "--json", "--maximum-age", "1")
    try:
        assert json.loads(keeping.line())["event"] == "refreshed" and keeping.is_running()
        keeping.process.terminate()
        done = keeping.finish()
    finally:
        keeping.end()
    # As for every command, and as the unit of the Debian package has it for a success.
    assert done.status == 143 and done.json["event"] == "done" and done.json["refreshed"] >= 1, done
    assert done.json["failed"] == done.json["ended"] == 0 and refreshes(quiet.other) == done.json["refreshed"], done


# Connections


@pytest.fixture(scope="module")
def refusing() -> Iterator[Database]:
    """One server for all connections that fail."""
    running = Database()
    yield running
    running.stop()


@pytest.mark.parametrize("connection, reason", [
    ("postgresql://secretive:PASSWORD@ADDRESS/vault", "password authentication failed"),
    ("postgresql://app:PASSWORD@ADDRESS/absent", "does not exist"),
    ("postgresql://app:PASSWORD@ADDRESS/postgres", "vault migrate|permission denied"),
    ("postgresql://app:PASSWORD@127.0.0.1:1/vault", "Connection refused"),
    ("postgresql://app:PASSWORD@127.0.0.1:PASSWORD/vault", "cannot be read"),
    ("postgresql://app:PASSWORD@[::1/vault", "cannot be read"),
    ("postgresql://app:PASSWORD@ADDRESS/vault?PASSWORD=1", "cannot be read"),
    ("host=127.0.0.1 port=1 user=app password=PASSWORD", "Connection refused"),
    ("host=127.0.0.1 password='PASSWORD", "cannot be read"),
    ("host=127.0.0.1 PASSWORD", "cannot be read"),
])
@pytest.mark.parametrize("line", ["vault check", "vault stats", "vault migrate", "vault copy", "accounts"])
def test_a_wrong_connection_is_an_error_of_the_vault_that_shows_no_password(
        line: str, connection: str, reason: str, handshake: Handshake, refusing: Database) -> None:
    vault = "postgres:" + connection.replace("PASSWORD", PASSWORD).replace("ADDRESS", refusing.address)
    handshake.run("vault", "migrate").ok()
    place = [f"files:{handshake.home}/vault", vault] if line == "vault copy" else ["--vault", vault]
    done = handshake.run(*line.split(), *place, "--json")
    assert done.status == done.error["status"] == 7 and re.search(reason, done.error["message"]), done
    assert PASSWORD not in done.stdout + done.stderr, done


def test_a_right_connection_is_named_without_its_password(handshake: Handshake, database: Database) -> None:
    vault = f"postgresql://app:{PASSWORD}@{database.address}/vault"
    named = set()
    for line in ("vault migrate", "vault stats", "vault rotate-key", "vault check", "accounts"):
        done = handshake.run(*line.split(), "--json", "--vault", vault).ok()
        assert PASSWORD not in done.stdout + done.stderr, done
        printed = json.loads(done.stdout.splitlines()[0]) if done.stdout.startswith("{") else {}
        named |= {printed["vault"]} if "vault" in printed else set()
    assert named == {f"postgres:postgresql://app@{database.address}/vault"}


def test_the_sample_makes_its_sqlite_file_and_opens_it_again(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    for _ in range(2):
        sample = Running([os.environ["CONNECTED_ACCOUNTS_BIN"], "--print-json", "--sandbox-port", "0", "--folder", str(folder)], os.environ, None)
        try:
            assert json.loads(sample.line(60))["vault"] == "sqlite"
            assert (folder / "accounts.sqlite").is_file()
            sample.process.send_signal(signal.SIGINT)
            assert sample.finish(60).status == 0
        finally:
            sample.end()
