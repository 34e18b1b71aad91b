"""Examples/ConnectedAccounts as a process, and what a person does on its page and at the services."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from sample import Sample, opened
from sandbox import artefact

SERVICES = {"sequencing": "Sequencing.com", "recurse-center": "Recurse Center", "standard": "Example Provider"}
PASSWORDS = {"sequencing": "analytical-engine", "recurse-center": "never-graduate", "standard": "standards-matter"}

App = Sample


@contextmanager
def open_app(*arguments: str) -> Iterator[App]:
    """The app and its sandbox as a process of their own."""
    with opened("ConnectedAccounts", *arguments) as facts:
        yield App(facts["origin"], facts["sandbox"])


def log_in(page: Page, app: App, name: str = "ada") -> None:
    page.context.clear_cookies(name="session")
    page.goto(app.origin)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill("analytical-engine")
    page.get_by_role("button", name="Log in").click()
    expect(row(page, "standard")).to_be_visible()


def row(page: Page, service: str) -> Locator:
    return page.locator(f"connected-accounts #row-{service}")


def act(page: Page, action: str, service: str) -> Locator:
    """A button by the name that a screen reader says."""
    role = "button" if action in ("Disconnect", "Cancel") else "link"
    return page.locator("connected-accounts").get_by_role(role, name=f"{action} {SERVICES[service]}", exact=True)


def agree(page: Page, service: str, *, declines: bool = False) -> None:
    """Signs in at the service and answers its question; then the browser is back at the app."""
    answers = page.locator("form button")
    email = page.get_by_label("E-mail address")
    # A page of sign-in may have other buttons beside the field.
    expect(email.or_(answers.nth(1)).first).to_be_visible()
    if email.count():  # a service remembers its users
        email.fill("ada@example.test")
        page.get_by_label("Password").fill(PASSWORDS[service])
        page.keyboard.press("Enter")
        expect(email).to_have_count(0)
    expect(answers.nth(1)).to_be_visible()
    names = [button.inner_text().strip() for button in answers.all()]
    no = next(at for at, name in enumerate(names) if any(w in name.lower() for w in ("no ", "deny", "refuse", "do not", "cancel")))
    yes = next(at for at in range(len(names)) if at != no)
    answers.nth(no if declines else yes).click()


def connect(page: Page, app: App, service: str) -> None:
    act(page, "Connect", service).click()
    agree(page, service)
    page.wait_for_url(f"{app.origin}/**")
    expect(row(page, service)).to_contain_text("is connected.")


def disconnect(page: Page, service: str) -> None:
    act(page, "Disconnect", service).click()
    page.locator("connected-accounts dialog").get_by_role("button", name="Disconnect").click()


def said(page: Page) -> str:
    """What a screen reader was told last."""
    return page.locator("connected-accounts [role=status]").text_content() or ""


def picture(page: Page, name: str) -> None:
    folder = os.environ.get("HANDSHAKE_OUTPUT_DIR")
    page.screenshot(path=Path(folder) / f"accounts-{name}.png" if folder else artefact(f"accounts-{name}"))
