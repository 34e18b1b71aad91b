"""The sample `WeatherMyWay --serve`, and a visit to it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from command import binary
from playwright.sync_api import Page, expect

USER, PASSWORD = "ada@example.test", "analytical-engine"


@dataclass
class Weather:
    origin: str
    sandbox: str

    def _control(self, method: str, path: str, body: str = "") -> str:
        answer = requests.request(method, f"{self.sandbox}/_sandbox/{path}", data=body.encode(), timeout=10)
        answer.raise_for_status()
        return answer.text

    def fault(self, rule: str) -> None:
        self._control("POST", "faults", f"sequencing {rule}")

    def reset(self) -> None:
        self._control("DELETE", "faults")
        self._control("DELETE", "requests")

    def pass_time(self, seconds: int) -> None:
        self._control("POST", "clock", str(seconds))

    def requests(self) -> str:
        return self._control("GET", "requests")


def program() -> Path | None:
    built = binary()
    path = built.parent / "WeatherMyWay" if built else None
    return path if path and path.exists() else None


@contextmanager
def open_weather() -> Iterator[Weather]:
    path = program()
    assert path, "WeatherMyWay is not built: run `swift build`"
    process = subprocess.Popen([path, "--serve", "--print-json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env=os.environ | {"LC_ALL": "C.UTF-8"})
    try:
        assert process.stdout
        told = json.loads(process.stdout.readline())
        yield Weather(told["origin"], told["sandbox"])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def sign_in(page: Page, weather: Weather, user: str = USER, password: str = PASSWORD) -> None:
    """From the first page to the app, by the sandbox's own pages."""
    page.goto(weather.origin)
    page.get_by_role("link", name="Sign in with Sequencing.com").click()
    page.get_by_label("E-mail address").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Yes (I authorize access)").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def choose(page: Page, persona: str, tab: str = "Sample Files") -> None:
    page.get_by_role("button", name="file").first.click()
    question = page.locator(".enter").nth(1 if tab == "Sample Files" else 0)
    question.or_(page.get_by_role("tab", name=tab)).locator("visible=true").first.click()
    page.get_by_role("listbox").get_by_role("option").filter(has_text=persona).first.click()
    page.get_by_role("button", name="Continue").click()
