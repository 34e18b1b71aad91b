"""Fixtures: the sandbox, Chromium, a page in either colour scheme, and the search for secrets afterwards."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import Handshake, binary
from playwright.sync_api import Browser, Page, expect, sync_playwright

import sandbox as stand_ins
from button_page import ButtonServer, serving
from button_visit import HOLDING, TIMEOUT
from sandbox import RedirectCatcher, Sandbox, Service
from shop_visit import Shop, open_shop


def chromium_path() -> str | None:
    """The headless shell is the same engine without a browser's window, at a third of the processor's time."""
    known = map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))
    return os.environ.get("HANDSHAKE_CHROMIUM") or next(filter(None, known), None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module with a SAMPLE has only that in every run. HANDSHAKE_PART is a part of all tests, such as 2/3: `.ci/walk` runs parts side by side."""
    for module in {item.module for item in items if hasattr(getattr(item, "module", None), "SAMPLE")}:  # type: ignore[attr-defined]
        own = {item.name: item for item in items if getattr(item, "module", None) is module}
        # Where one test is asked for by its name, the others are not here.
        if len(own) > 5 * len(module.SAMPLE) and (unknown := module.SAMPLE - own.keys()):
            raise pytest.UsageError(f"no test of {module.__name__} is called {min(unknown)}")
        for name in own.keys() - module.SAMPLE:
            own[name].add_marker(pytest.mark.long)
    part, _, parts = os.environ.get("HANDSHAKE_PART", "1/1").partition("/")
    chosen = [item for item in items if item.get_closest_marker("long")] if parts != "1" else items
    items[:] = chosen[int(part) - 1::int(parts)]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        pytest.skip("chromium-headless-shell is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


def built() -> Path:
    path = binary()
    if path is None:
        pytest.skip("handshake is not built: set HANDSHAKE_BIN or run `swift build` (.build/debug/handshake is missing)")
    return path


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    command = Handshake(built(), tmp_path_factory.mktemp("sandbox") / "home")
    running = Sandbox(command)
    yield running
    command.end()


@pytest.fixture(params=stand_ins.SERVICES)
def service(request: pytest.FixtureRequest, sandbox: Sandbox) -> Service:
    return sandbox.services[request.param]


@pytest.fixture
def handshake(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Handshake]:
    """The command with an empty home; what it printed is kept for the search of the whole run."""
    command = Handshake(built(), tmp_path / "home")
    yield command
    command.end()
    if folder := os.environ.get("HANDSHAKE_OUTPUT_DIR"):
        with (Path(folder) / "browser-commands.log").open("ab") as log:
            log.write(f"== {request.node.name}\n".encode() + command.printed())


@pytest.fixture
def catcher() -> Iterator[RedirectCatcher]:
    with stand_ins.catching() as one:
        yield one


OpenPage = Callable[..., Page]
# For what has to come: it ends when it is there, and a busy machine needs its time.
expect.set_options(timeout=TIMEOUT * 1000)


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Makes a page in a browser context of its own, so without cookies; nothing but loopback may be asked for."""
    contexts = []

    def make(*, scheme: str = "light", width: int = 1024, height: int = 768, **options: object) -> Page:
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": height},  # type: ignore[arg-type]
                                       bypass_csp=False, **options)  # type: ignore[arg-type]
        context.set_default_timeout(TIMEOUT * 1000)
        context.add_init_script(HOLDING)
        contexts.append((context, asked := []))
        context.on("request", lambda request: asked.append(request.url))
        return context.new_page()

    yield make
    for context, asked in contexts:
        context.close()
        # What a test answers itself leaves this machine as little.
        here = ("http://127.0.0.1:", "data:", "blob:", *getattr(context, "answered_here", ()))
        foreign = [url for url in asked if not url.startswith(here)]
        assert foreign == [], "a page asked for something elsewhere"


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return open_page()


@pytest.fixture(scope="session")
def button_server() -> Iterator[ButtonServer]:
    with serving() as one:
        yield one


@pytest.fixture
def server(button_server: ButtonServer) -> ButtonServer:
    """The server of a page with `<connect-button>`s, with nothing scripted yet."""
    button_server.reset()
    return button_server


@pytest.fixture
def shop() -> Iterator[Shop]:
    with open_shop() as one:
        yield one
