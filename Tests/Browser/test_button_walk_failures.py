"""Every step of turning on and off at the real server and sandbox, where the call that the step waits for fails after 0, 1 and 5 seconds; and at each of
them nothing, Cancel, Back, a reload and a second device. An answer that is lost (`drop`) was given: IFTTT has done it. Whatever was done: the page says
what IFTTT has, so do all devices, what failed is said or done on IFTTT's page, and the next try goes through.

What SAMPLE names is part of every run; `.ci/walk` runs the rest, each night too."""

from functools import partial

import pytest
from playwright.sync_api import Page, expect

from conftest import OpenPage
from shop_visit import Shop, own_script, step, until
from test_button_walk import ACTIONS, MOMENTS, ON, PATH, Act, away, goes_through, log_in, nothing, rests, second_device, visit

SAMPLE = {
    "test_what_fails_is_said_and_the_page_says_what_ifttt_has[looking up an address-status 500-1-nothing]",
    "test_what_fails_is_said_and_the_page_says_what_ifttt_has[enabling-drop-1-nothing]",
    "test_what_fails_is_said_and_the_page_says_what_ifttt_has[disabling-status 500-1-second_device]",
    "test_what_failed_at_ifttt_is_said_on_the_way_back[1-nothing]",
}
# An address is asked for again where the look-up of one has failed; what is asked of IFTTT is repeated three times, each with the delay. Where IFTTT does
# not turn on what it knows, its page does.
ends = partial(rests, seconds=80, asks=("email",))
FAILURES = [("looking up an address", "status 500"), ("looking up a user", "status 500"), ("enabling", "status 500"), ("enabling", "drop"),
            ("disabling", "status 500"), ("disabling", "drop"), ("fetching a token to turn on", "status 500"),
            ("fetching a token to turn off", "status 500")]


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    return own_script(open_page())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
@pytest.mark.parametrize(("name", "fault"), FAILURES)
def test_what_fails_is_said_and_the_page_says_what_ifttt_has(shop: Shop, page: Page, open_page: OpenPage, name: str, fault: str, seconds: int,
                                                             act: Act) -> None:
    moment, other = MOMENTS[name], open_page()
    for each in (page, other):
        log_in(each, shop, moment.customer, token=moment.token)
    visit(page, shop)
    until(page, *ON, "connect")
    shop.misbehave(*([f"ifttt {moment.call} => delay {seconds}"] if seconds else []), f"ifttt {moment.call} => {fault}")
    moment.begin(page, shop)
    if seconds:
        page.wait_for_function("step => document.querySelector('connect-button').answer.state.step === step", arg=moment.step)
    pressed = act(page, other, shop)
    if act is nothing and name == "enabling" and fault != "drop":
        page.wait_for_url(f"{shop.sandbox}/**")
    elif act is nothing and fault != "drop":
        expect(page.locator("connect-button .footer[data-tone=error]")).to_have_count(1, timeout=60_000)
    ends(page, shop, moment.customer)
    # The call ends later than Cancel and a reload.
    page.wait_for_timeout(1_000 * seconds + 500)
    ends(page, shop, moment.customer)
    assert page.url.startswith(shop.origin) or name == "enabling" and not (pressed and seconds), "what failed has sent the user to IFTTT"
    if act is second_device:
        ends(other, shop, moment.customer)
    goes_through(page, shop, moment.customer)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("act", ACTIONS)
@pytest.mark.parametrize("seconds", [0, 1, 5])
def test_what_failed_at_ifttt_is_said_on_the_way_back(shop: Shop, page: Page, open_page: OpenPage, seconds: int, act: Act) -> None:
    customer, other = "garden-1005", open_page()
    for each in (page, other):
        log_in(each, shop, customer, token=False)
    visit(page, shop)
    until(page, "connect")
    away(page, shop, customer)
    shop.misbehave(*([f"ifttt GET {PATH} => delay {seconds}"] if seconds else []))
    page.locator("button[name=outcome][value=account_creation]").evaluate("e => { e.closest('details')?.setAttribute('open', ''); e.click() }")
    page.wait_for_url(f"{shop.origin}/**")
    page.wait_for_function("() => Boolean(document.querySelector('connect-button')?.answer)")
    act(page, other, shop)
    assert ends(page, shop, customer) == "connect"
    if act is nothing:
        expect(page.locator("connect-button .footer")).to_contain_text("account")
    if act is second_device:
        assert ends(other, shop, customer) == "connect"
    goes_through(page, shop, customer)
