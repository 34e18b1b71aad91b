"""The sample `WeatherMyWay --serve`, and a visit to it."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

from sample import Sample, opened
from strangers import http

USER, PASSWORD = "ada@example.test", "analytical-engine"


class Weather(Sample):
    def _control(self, method: str, path: str, body: str = "") -> str:
        answer = http().request(method, f"{self.sandbox}/_sandbox/{path}", data=body.encode(), timeout=10)
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


@contextmanager
def open_weather() -> Iterator[Weather]:
    with opened("WeatherMyWay", "--serve") as facts:
        yield Weather(facts["origin"], facts["sandbox"])


def sign_in(page: Page, weather: Weather, user: str = USER, password: str = PASSWORD) -> None:
    """From the first page to the app, by the sandbox's own pages."""
    page.goto(weather.origin)
    page.get_by_role("link", name="Sign in with Sequencing.com").click()
    page.get_by_label("E-mail address").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Yes (I authorize access)").click()
    ready(page)


def ready(page: Page) -> None:
    """Waits for the app, but for no script of it."""
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def choose(page: Page, persona: str, tab: str = "Sample Files") -> None:
    ready(page)
    page.get_by_role("button", name="file").first.click()
    question = page.locator(".enter").nth(1 if tab == "Sample Files" else 0)
    question.or_(page.get_by_role("tab", name=tab)).locator("visible=true").first.click()
    page.get_by_role("listbox").get_by_role("option").filter(has_text=persona).first.click()
    page.get_by_role("button", name="Continue").click()


def begin_import(page: Page, login: str) -> Locator:
    """Opens the sheet and sends a login at 23andMe; what the sandbox answers goes by the login."""
    page.get_by_role("button", name="Import from 23andMe or Ancestry").click()
    sheet = page.get_by_role("dialog", name="Import from")
    fill_in(sheet, login)
    return sheet


def fill_in(sheet: Locator, login: str) -> None:
    sheet.get_by_label("Login").fill(login)
    sheet.get_by_label("Password").fill("correct-horse-battery")
    sheet.get_by_role("button", name="Import", exact=True).click()


def answer(sheet: Locator, text: str) -> None:
    sheet.get_by_label("23andMe asks").fill(text)
    sheet.get_by_role("button", name="Send").click()
