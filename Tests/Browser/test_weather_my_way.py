"""`WeatherMyWay --serve` from sign-in to sign-out, as a person walks it (Sequencing dossier F03, E16)."""

import re
import subprocess
from collections.abc import Iterator
from itertools import product

import pytest
import requests
from playwright.sync_api import Page, Route, expect

import person
from conftest import OpenPage
from person import violations
from sample import program, serve_script
from sandbox import artefact
from weather_visit import Weather, answer, begin_import, choose, fill_in, open_weather, sign_in

DISCLAIMER = "This is an example and no medical advice."


@pytest.fixture(scope="module")
def running() -> Iterator[Weather]:
    with open_weather() as one:
        yield one


@pytest.fixture
def weather(running: Weather) -> Weather:
    running.reset()
    return running


def fine(page: Page) -> None:
    """Nothing offends axe, and nothing scrolls sideways."""
    assert violations(page) == []
    assert person.overflow(page, ".unseen, .text") == []


def days(page: Page):
    return page.locator(".day")


def test_a_person_walks_from_sign_in_to_sign_out(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(width=1000, height=900, reduced_motion="reduce")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(weather.origin)
    expect(page.get_by_role("heading", level=1)).to_have_text("The weather, read with your genes")
    expect(page.get_by_text(DISCLAIMER)).to_be_visible()
    fine(page)

    sign_in(page, weather)
    expect(page.locator(".user")).to_have_text("Signed in as ada")
    expect(page.get_by_role("heading", level=1)).to_have_text("Which file is the advice for?")
    fine(page)

    choose(page, "Carries a nanosecond")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your forecast")
    expect(page.locator("#chosen")).to_have_text("Grace - Carries a nanosecond in her pocket")
    expect(days(page)).to_have_count(7)
    expect(page.locator(".answers")).to_contain_text(re.compile(r"Melanoma risk\s*High"))
    expect(page.locator(".answers")).to_contain_text(re.compile(r"Vitamin D\s*Issue found"))
    for day in days(page).all():
        assert len(day.locator("p").inner_text()) > 20
    fine(page)
    starts = [line for line in weather.requests().splitlines() if "StartAppBatch" in line]
    assert len(starts) == 1, "both chains are one request"

    page.get_by_label("Place", exact=True).select_option("Miami")
    warning = page.get_by_role("alert").filter(has_text="A hurricane warning is in force.")
    expect(warning).to_be_visible()
    expect(days(page).first.locator("p")).to_contain_text("A hurricane warning is in force.")
    assert len([line for line in weather.requests().splitlines() if "StartAppBatch" in line]) == 1, "the genes are the same anywhere"
    page.screenshot(path=artefact("weather-forecast"), full_page=True)
    fine(page)

    page.reload()
    expect(page.get_by_label("Place", exact=True)).to_have_value("Miami")
    expect(days(page)).to_have_count(7)

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status")).to_have_text("You are signed out, and the app's access is revoked.")
    assert "/oauth2/revoke" in weather.requests()
    page.goto(weather.origin)
    expect(page.get_by_role("link", name="Sign in with Sequencing.com")).to_be_visible()
    assert errors == []


DATES = """() => [...document.querySelectorAll('.day h3')].map(heading => {
  const texts = [], walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) texts.push(walker.currentNode)
  const last = texts.at(-1), range = document.createRange()
  range.setStart(last, last.data.search(/[A-Z][a-z]+ \\d+$/))
  range.setEnd(last, last.data.length)
  return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size })"""


def test_the_command_refuses_a_file_that_is_not_there_with_the_files_that_are() -> None:
    done = subprocess.run([program("WeatherMyWay"), "--file", "999", "--place", "Miami"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 64 and done.stdout == "", done
    lines = done.stderr.splitlines()
    assert lines[0] == 'WeatherMyWay: there is no file "999". Choose one of:' and any(line.startswith("910001  Ada") for line in lines), lines


def forecast(open_page: OpenPage, weather: Weather, today: str) -> Page:
    """A page with the forecast of a sample file, on a day."""
    page = open_page(width=1000, height=900, reduced_motion="reduce")
    page.clock.set_fixed_time(f"{today}T12:00:00Z")
    sign_in(page, weather)
    choose(page, "Carries a nanosecond")
    expect(days(page)).to_have_count(7)
    return page


def test_a_date_stays_on_one_line_and_frost_has_a_minus_sign(open_page: OpenPage, weather: Weather) -> None:
    page = forecast(open_page, weather, "2026-09-23")
    expect(days(page).nth(3).locator("h3")).to_have_text("Saturday, September 26")
    assert page.evaluate(DATES) == [1] * 7
    degrees = " ".join(days(page).locator(".degrees").all_inner_texts())
    assert "\u2212" in degrees and "-" not in degrees


LINES = """() => [...document.querySelectorAll('.day h3')].map(heading =>
  Math.round(heading.getBoundingClientRect().height / parseFloat(getComputedStyle(heading).lineHeight)))"""


def test_a_day_and_its_date_fit_in_one_line_of_their_column_and_all_advice_begins_in_line(open_page: OpenPage, weather: Weather) -> None:
    # The third day has the longest name of a weekday and of a month.
    page = forecast(open_page, weather, "2026-09-21")
    expect(days(page).nth(2).locator("h3")).to_have_text("Wednesday, September 23")
    assert page.evaluate(LINES) == [1] * 7
    assert page.evaluate("() => new Set([...document.querySelectorAll('.day p')].map(advice => advice.getBoundingClientRect().left)).size") == 1


def test_an_alert_is_told_for_a_file_that_lacks_data(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(width=390, height=844, scheme="dark", reduced_motion="reduce", has_touch=True, is_mobile=True)
    sign_in(page, weather)
    page.get_by_label("Place", exact=True).select_option("Miami")
    choose(page, "Emmy")
    expect(page.get_by_text("This file lacks the data").first).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="A hurricane warning is in force.")).to_be_visible()
    expect(days(page).nth(1).locator("p")).to_have_text("This file lacks the data that the advice needs. Choose another file.")
    page.screenshot(path=artefact("weather-lacks-data-390-dark"), full_page=True)
    fine(page)


def test_chains_that_fail_are_told_once_and_asked_again(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    weather.fault("/v2/StartAppBatch => status 500")
    choose(page, "Enjoys long walks")
    expect(page.locator(".answers")).to_contain_text("No answer")
    expect(page.locator("#status")).to_contain_text("Sequencing.com is not working right now")
    expect(days(page)).to_have_count(7)
    # The alert of the first day is told all the same.
    expect(days(page).locator("p")).to_have_count(1)
    expect(page.get_by_text("This file lacks the data")).to_have_count(0)
    page.screenshot(path=artefact("weather-failed-chains"), full_page=True)
    fine(page)
    again = page.get_by_role("button", name="Try again")
    again.click()
    expect(again).to_be_focused()
    weather.reset()
    again.click()
    expect(page.locator(".answers")).to_contain_text("Moderate")
    expect(page.locator("#status")).to_be_empty()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(days(page).locator("p")).to_have_count(7)


def test_another_place_or_a_reload_while_the_chains_run_does_not_start_them_again(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    weather.fault("/v2/StartAppBatch => delay 3")
    with page.expect_request("**/report?*"):
        choose(page, "Enjoys long walks")
    for go_on in (lambda: page.get_by_label("Place", exact=True).select_option("Miami"), page.reload):
        with page.expect_request("**/report?*"):
            go_on()
    expect(days(page)).to_have_count(7)
    assert len([line for line in weather.requests().splitlines() if "StartAppBatch" in line]) == 1


def test_the_report_of_a_file_goes_when_another_file_is_chosen(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    serve_script(page, "**/weather.js", "Examples/WeatherMyWay/Web/weather.js", words=1)
    sign_in(page, weather)
    choose(page, "Carries a nanosecond")
    expect(page.locator(".answers")).to_contain_text(re.compile(r"Melanoma risk\s*High"))
    # The chains run for as long as the request is held.
    held: list[Route] = []
    page.route("**/report?*", lambda route: held.append(route))
    choose(page, "Enjoys long walks")
    expect(page.locator("#chosen")).to_have_text("Ada - Enjoys long walks and longer proofs")
    expect(page.locator("#report")).to_be_hidden()
    expect(days(page)).to_have_count(0)
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.locator(".answers")).to_contain_text(re.compile(r"Melanoma risk\s*Moderate"))
    expect(days(page)).to_have_count(7)


def test_a_tab_names_the_file_whose_advice_it_shows(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    serve_script(page, "**/weather.js", "Examples/WeatherMyWay/Web/weather.js", words=1)
    sign_in(page, weather)
    choose(page, "Carries a nanosecond")
    expect(days(page)).to_have_count(7)
    other = page.context.new_page()
    other.goto(weather.origin)
    choose(other, "Enjoys long walks")
    expect(other.locator(".answers")).to_contain_text("Moderate")
    page.get_by_label("Place", exact=True).select_option("Oslo")
    expect(page.locator(".answers")).to_contain_text("Moderate")
    expect(page.locator("#chosen")).to_have_text("Ada - Enjoys long walks and longer proofs")


def test_an_alert_is_told_while_the_chains_run_and_where_the_session_has_ended(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    serve_script(page, "**/weather.js", "Examples/WeatherMyWay/Web/weather.js", words=1)
    sign_in(page, weather)
    held: list[Route] = []
    page.route("**/report?*", lambda route: held.append(route))
    choose(page, "Enjoys long walks")
    expect(page.locator("#chosen")).to_have_text("Ada - Enjoys long walks and longer proofs")
    place = page.get_by_label("Place", exact=True)
    place.select_option("Miami")
    hurricane = page.get_by_role("alert").filter(has_text="A hurricane warning is in force.")
    expect(hurricane).to_be_visible()
    expect(page.locator("#report")).to_be_hidden()
    place.select_option("Oslo")
    expect(hurricane).to_have_count(0)
    while len(held) < 3:
        page.wait_for_timeout(20)
    for route in held:
        route.abort()
    page.unroute("**/report?*")
    end_session(weather, "/v2/StartAppBatch")
    place.select_option("Miami")
    expect(page.locator("#status")).to_have_text("Your sign-in has expired. Sign in again")
    expect(hurricane).to_be_visible()
    fine(page)


SCRIPTS = ("weather.js", "genes/file-selector.js", "genes/registration-sheet.js")


@pytest.mark.parametrize("late", SCRIPTS)
def test_no_button_can_be_pressed_before_its_script_is_there(open_page: OpenPage, weather: Weather, late: str) -> None:
    page = open_page(width=1000, height=900, reduced_motion="reduce")
    if late != "weather.js":
        serve_script(page, "**/weather.js", "Examples/WeatherMyWay/Web/weather.js", words=1)
    held: list[Route] = []

    def waiting(*names: str) -> None:
        while not held:
            page.wait_for_timeout(20)
        for name in names:
            button = page.get_by_role("button", name=name)
            expect(button).to_be_disabled()
            button.click(force=True)
            button.press("Enter")
        fine(page)
        held.pop().continue_()

    def hold() -> None:
        page.route(f"**/{late}", lambda route: held.append(route), times=1)

    hold()
    page.goto(weather.origin, wait_until="commit")
    expect(page.get_by_role("link", name="Sign in with Sequencing.com")).to_be_visible()
    waiting("Create an account")
    create = page.get_by_role("button", name="Create an account")
    expect(create).to_be_enabled()
    create.press("Enter")
    expect(page.locator("registration-sheet").get_by_role("dialog")).to_be_visible()

    sign_in(page, weather)
    opening = {"Choose a file": page.locator("file-selector").get_by_role("dialog"),
               "Import from 23andMe or Ancestry": page.get_by_role("dialog", name="Import from"),
               "Copy a file from the web": page.get_by_role("dialog", name="Copy a file from the web")}
    for name, sheet in opening.items():
        hold()
        page.goto(weather.origin, wait_until="commit")
        waiting(*opening)
        expect(sheet).to_be_hidden()
        page.get_by_role("button", name=name).click()
        expect(sheet).to_be_visible()


def test_an_answer_takes_no_focus_from_a_user_who_has_gone_on(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    serve_script(page, "**/weather.js", "Examples/WeatherMyWay/Web/weather.js", words=1)
    sign_in(page, weather)
    weather.fault("/v2/StartAppBatch => status 500")
    choose(page, "Enjoys long walks")
    again, place = page.get_by_role("button", name="Try again"), page.get_by_label("Place", exact=True)
    expect(again).to_be_visible()
    weather.reset()
    held: list[Route] = []
    page.route("**/report?*", lambda route: held.append(route))
    again.click()
    while not held:
        page.wait_for_timeout(20)
    place.focus()
    held[0].continue_()
    expect(page.locator(".answers")).to_contain_text("Moderate")
    expect(page.locator("#status")).to_be_empty()
    expect(place).to_be_focused()


def test_an_import_asks_its_question_shows_its_progress_and_ends_with_the_file(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(width=390, height=844, reduced_motion="reduce")
    sign_in(page, weather)
    page.get_by_role("button", name="Import from 23andMe or Ancestry").click()
    sheet = page.get_by_role("dialog", name="Import from")
    sheet.get_by_role("button", name="Import").click()
    expect(sheet.get_by_role("alert")).to_contain_text("“login” is empty")
    fill_in(sheet, "wrong@example.test")
    expect(sheet.get_by_role("alert")).to_contain_text("rejected the login or password")
    fill_in(sheet, "ada@example.test")
    expect(sheet.get_by_text("23andMe asks: First pet?")).to_be_visible()
    page.screenshot(path=artefact("weather-import-question-390"))
    fine(page)
    sheet.get_by_label("23andMe asks").fill("Turing")
    sheet.get_by_role("button", name="Send").click()
    expect(sheet).to_be_hidden()
    progress = page.locator("#progress")
    expect(progress.locator("[aria-current=step]")).to_have_text("Sequencing.com fetches your data")
    expect(progress.get_by_role("progressbar", name="Import")).to_be_visible()
    fine(page)
    page.reload()
    expect(progress.locator("[aria-current=step]")).to_have_text("Sequencing.com fetches your data")
    weather.pass_time(3600)
    expect(progress.get_by_text("New in your list:")).to_be_visible(timeout=20_000)
    assert "correct-horse-battery" not in weather.requests()
    choose(page, "23andMe", tab="My Files")
    expect(days(page)).to_have_count(7)


def test_a_question_of_an_import_outlasts_the_page_and_a_look_that_fails(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    start = page.get_by_role("button", name="Import from 23andMe or Ancestry")
    sheet = begin_import(page, "ada@example.test")
    expect(sheet.get_by_text("23andMe asks: First pet?")).to_be_visible()
    page.reload()
    expect(page.locator("#progress")).to_contain_text("23andMe asks you a question.")
    # The same user signs in again.
    page.goto(f"{weather.origin}/connect/sequencing/start?return_to=/")
    page.get_by_role("button", name="Continue to Sequencing.com").click()
    page.get_by_role("button", name="Yes (I authorize access)").click()
    expect(page.locator("#progress")).to_contain_text("23andMe asks you a question.")
    start.click()
    expect(sheet.get_by_text("23andMe asks: First pet?")).to_be_visible()
    expect(sheet.get_by_label("Login")).to_be_hidden()
    sheet.get_by_role("button", name="Start the import again").click()
    expect(sheet.get_by_label("Login")).to_be_focused()
    sheet.get_by_role("button", name="Cancel").click()
    start.click()
    sheet.get_by_label("23andMe asks").fill("Turing")
    # The second look does not arrive.
    failed: list[str] = []
    page.route("**/import", lambda route: (failed.append(route.request.url), route.abort()) if not failed else route.continue_())
    sheet.get_by_role("button", name="Send").click()
    expect(page.get_by_role("progressbar", name="Import")).to_be_visible()
    weather.pass_time(3600)
    expect(page.locator("#progress").get_by_text("New in your list:")).to_be_visible(timeout=20_000)
    assert failed


def test_an_import_whose_file_does_not_come_is_given_up_and_another_one_s_file_is_found(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(width=390, height=844, reduced_motion="reduce")
    sign_in(page, weather)
    sheet = begin_import(page, "ada@example.test")
    weather.fault("/23andMe/DownloadWithSecurity => status 502")
    answer(sheet, "Turing")
    lost = sheet.get_by_role("region", name="Imports whose files have not come")
    ways_out = lost.get_by_role("button", name="Give up waiting")
    expect(ways_out).to_have_count(1)
    weather.reset()
    sheet.get_by_role("button", name="Start the import again").click()
    # Another login with the same name before its "@": nothing tells the two imports' files apart.
    fill_in(sheet, "ada@elsewhere.test")
    answer(sheet, "Turing")
    expect(page.get_by_role("progressbar", name="Import")).to_be_visible()
    weather.pass_time(3600)
    page.get_by_role("button", name="Import from 23andMe or Ancestry").click()
    expect(ways_out).to_have_count(2)
    expect(lost).to_contain_text("This does not stop the import at Sequencing.com")
    page.screenshot(path=artefact("weather-import-unfinished-390"))
    fine(page)
    # The answer is late.
    held: list[Route] = []
    page.route("**/import/give-up", lambda route: held.append(route))
    ways_out.first.click()
    while not held:
        page.wait_for_timeout(20)
    expect(ways_out.first).to_be_disabled()
    held[0].continue_()
    expect(sheet.get_by_text("No longer waiting for the import from 23andMe.")).to_be_visible()
    expect(page.locator("#progress").get_by_text("New in your list: 23andme_ada.txt")).to_be_visible()
    expect(lost).to_be_hidden()


def test_a_file_that_comes_after_the_wait_is_found_when_the_page_is_opened(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    begin_import(page, "started@example.test")
    progress = page.locator("#progress")
    expect(progress.get_by_role("progressbar", name="Import")).to_be_visible()
    weather.fault("/DataSourceList => status 404")
    expect(progress.get_by_text("its progress cannot be seen")).to_be_visible(timeout=20_000)
    weather.reset()
    weather.pass_time(3600)
    page.reload()
    expect(progress.get_by_text("New in your list:")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Import from 23andMe or Ancestry").click()
    expect(page.get_by_role("button", name="Give up waiting")).to_have_count(0)


def test_giving_up_an_import_ends_its_wait_also_while_the_list_is_asked_for(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    begin_import(page, "started@example.test")
    progress = page.locator("#progress")
    expect(progress.get_by_role("progressbar", name="Import")).to_be_visible()
    weather.fault("/DataSourceList => delay 600")
    looks = weather.requests().count("/DataSourceList")
    while weather.requests().count("/DataSourceList") == looks:
        page.wait_for_timeout(50)
    page.get_by_role("button", name="Import from 23andMe or Ancestry").click()
    sheet = page.get_by_role("dialog", name="Import from")
    sheet.get_by_role("button", name="Give up waiting").click()
    expect(sheet.get_by_text("No longer waiting for the import from 23andMe.")).to_be_visible()
    expect(sheet.get_by_role("heading", name="Import from", exact=True)).to_be_focused()
    expect(progress).to_be_hidden()
    expect(sheet.get_by_role("button", name="Give up waiting")).to_have_count(0)
    # Its file comes before a later test's import begins.
    weather.pass_time(3600)


def test_an_answer_that_is_sent_again_after_a_lost_one_ends_with_the_file(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    sheet = begin_import(page, "ada@example.test")
    weather.fault("/23andMe/DownloadWithSecurity => status 502")
    answer(sheet, "Turing")
    expect(sheet.get_by_role("alert")).not_to_be_empty()
    weather.reset()
    answer(sheet, "Turing")
    expect(page.get_by_role("progressbar", name="Import")).to_be_visible()
    weather.pass_time(3600)
    expect(page.locator("#progress").get_by_text("New in your list:")).to_be_visible(timeout=20_000)


def test_a_file_from_the_web_is_copied_into_an_account(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    sign_in(page, weather)
    page.get_by_role("button", name="Copy a file from the web").click()
    sheet = page.get_by_role("dialog", name="Copy a file from the web")
    sheet.get_by_label("Email address of the account").fill("not an address")
    sheet.get_by_role("button", name="Copy").click()
    expect(sheet.get_by_role("alert")).to_contain_text("not a valid email address")
    fine(page)
    sheet.get_by_label("Email address of the account").fill("ada@example.test")
    sheet.get_by_label("File name").fill("copied.vcf.gz")
    sheet.get_by_role("button", name="Copy").click()
    expect(sheet).to_be_hidden()
    expect(page.locator("#status")).to_have_text("Sequencing.com is copying the file into the account.")
    weather.pass_time(60)
    choose(page, "copied.vcf.gz", tab="My Files")
    expect(page.locator("#chosen")).to_have_text("copied.vcf.gz")


def copy(weather: Weather, cookies: dict[str, str], email: str) -> requests.Response:
    """Asks for the copy of a file as the page does."""
    file = {"name": "copied.vcf.gz", "url": "https://files.example.test/ada.vcf.gz"}
    return requests.post(
        f"{weather.origin}/copy", json={"email": email, **file}, cookies=cookies, headers={"Origin": weather.origin}, timeout=10)


def cookies(page: Page) -> dict[str, str]:
    return {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}


def end_session(weather: Weather, path: str) -> None:
    """The service accepts the token no longer, and refreshes it no more."""
    weather.fault(f"{path} => status 401")
    weather.fault('/oauth2/token => status 400 {"error":"invalid_grant"}')


def find_session_ended(page: Page, weather: Weather) -> None:
    """The user asks for the files, and the page says that the session has ended; the service is well again."""
    end_session(weather, "/DataSourceList")
    page.get_by_role("button", name="Choose a file").click()
    expect(page.get_by_role("alert").filter(has_text="Your sign-in has expired.")).to_be_visible()
    weather.reset()


def test_only_a_signed_in_user_has_a_file_copied(open_page: OpenPage, weather: Weather) -> None:
    stranger = requests.get(weather.origin, timeout=10).cookies.get_dict()
    assert stranger, "the first page begins a session"
    page = open_page()
    sign_in(page, weather)
    find_session_ended(page, weather)
    for visitor, email in product((stranger, cookies(page)), ("stranger@example.test", "not an address")):
        refused = copy(weather, visitor, email)
        assert refused.status_code == 401 and refused.json()["sign_in"] == "/connect/sequencing/start?return_to=/"
    assert '"/connect' not in weather.requests()


@pytest.mark.parametrize("fault", ["drop", "status 502"])
def test_a_copy_that_was_not_confirmed_is_not_advised_a_second_time(open_page: OpenPage, weather: Weather, fault: str) -> None:
    page = open_page()
    sign_in(page, weather)
    weather.fault(f"/connect => {fault}")
    page.get_by_role("button", name="Copy a file from the web").click()
    sheet = page.get_by_role("dialog", name="Copy a file from the web")
    sheet.get_by_label("Email address of the account").fill("unconfirmed@example.test")
    sheet.get_by_role("button", name="Copy").click()
    expect(sheet.get_by_role("alert")).to_have_text(
        "Sequencing.com has not confirmed the request. The file may still be copied: look for it in the account before you ask again.")


def test_a_user_has_five_files_copied_within_five_minutes(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    sign_in(page, weather, "rosalind@example.test", "photograph-51")
    # What cannot be sent counts for nothing.
    assert copy(weather, cookies(page), "not an address").status_code == 502
    statuses = [copy(weather, cookies(page), f"copied-{number}@example.test").status_code for number in range(6)]
    assert statuses == [200] * 5 + [429]
    assert weather.requests().count('"/connect') == 5
    page.get_by_role("button", name="Copy a file from the web").click()
    sheet = page.get_by_role("dialog", name="Copy a file from the web")
    sheet.get_by_label("Email address of the account").fill("copied-6@example.test")
    sheet.get_by_role("button", name="Copy").click()
    expect(sheet.get_by_role("alert")).to_have_text("Too many files were copied within a short time. Try again in five minutes.")
    # In another browser, where the service did not say at the sign-in who the user is.
    other = open_page()
    weather.fault("/indexApi.php => status 503")
    sign_in(other, weather, "rosalind@example.test", "photograph-51")
    expect(other.locator(".user")).to_have_count(0)
    weather.reset()
    assert copy(weather, cookies(other), "copied-7@example.test").status_code == 429


def test_a_session_that_ends_is_told_on_the_page_and_a_refusal_leads_back_to_it(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    end_session(weather, "/v2/StartAppBatch")
    choose(page, "Enjoys long walks")
    expect(page.locator("#status")).to_have_text("Your sign-in has expired. Sign in again")
    fine(page)
    weather.reset()
    notice, again = page.locator(".notice"), page.get_by_role("link", name="Sign in again")
    with page.expect_response("**/report?*") as answered:
        page.reload()
    assert answered.value.status == 401
    expect(notice).to_have_text("Your sign-in has expired. Sign in again")
    expect(page.locator("#status")).to_be_empty()
    page.screenshot(path=artefact("weather-expired"))
    fine(page)
    again.click()
    with page.expect_response("**/report?*"):
        page.get_by_role("button", name="No (do not provide access)").click()
    expect(page.locator("#status")).to_be_empty()
    expect(notice).to_have_text("You did not sign in. Nothing has changed. Sign in again")
    assert page.url == f"{weather.origin}/?sign-in=cancelled"
    again.click()
    page.get_by_role("button", name="Yes (I authorize access)").click()
    expect(days(page)).to_have_count(7)
    expect(notice).to_have_count(0)


def test_an_address_of_a_refusal_that_is_loaded_again_says_nothing_to_a_user_who_has_signed_in_since(
        open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    page.goto(f"{weather.origin}/?sign-in=cancelled")
    expect(page.locator(".notice")).to_have_text("You did not sign in. Nothing has changed.")
    sign_in(page.context.new_page(), weather)
    page.reload()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.locator(".notice")).to_have_count(0)


def test_a_session_that_was_planted_before_the_sign_in_is_worth_nothing_after_it(open_page: OpenPage, weather: Weather) -> None:
    planted = requests.get(weather.origin, timeout=10).cookies.get_dict()
    page = open_page()
    page.context.add_cookies([{"name": name, "value": value, "url": weather.origin} for name, value in planted.items()])
    sign_in(page, weather)
    assert planted.items() <= cookies(page).items(), "it is the same session"
    files = f"{weather.origin}/genes/files?all=true"
    assert requests.get(files, cookies=cookies(page), timeout=10).status_code == 200
    assert requests.get(files, cookies=planted, timeout=10).status_code == 401


def test_a_page_whose_own_session_is_gone_leads_to_the_first_page(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    sign_in(page, weather)
    choose(page, "Enjoys long walks")
    expect(days(page)).to_have_count(7)
    page.context.clear_cookies(name="session")
    page.get_by_label("Place", exact=True).select_option("Miami")
    page.get_by_role("link", name="Sign in again").click()
    expect(page.get_by_role("link", name="Sign in with Sequencing.com")).to_be_visible()


def test_an_ended_session_leads_to_the_sign_in_and_back(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    sign_in(page, weather)
    find_session_ended(page, weather)
    page.get_by_role("link", name="Sign in again").click()
    page.get_by_role("button", name="Yes (I authorize access)").click()
    choose(page, "Enjoys long walks")
    expect(days(page)).to_have_count(7)


def test_another_user_of_the_browser_sees_nothing_of_the_user_before(open_page: OpenPage, weather: Weather) -> None:
    page = open_page(reduced_motion="reduce")
    sign_in(page, weather)
    choose(page, "ada_genome", tab="My Files")
    expect(days(page)).to_have_count(7)
    # The service has another user now; the app's own session stays.
    page.context.clear_cookies(name=re.compile("^(?!session(-proof)?$)"))
    page.goto(f"{weather.origin}/connect/sequencing/start?return_to=/")
    page.get_by_role("button", name="Continue to Sequencing.com").click()
    page.get_by_label("E-mail address").fill("rosalind@example.test")
    page.get_by_label("Password").fill("photograph-51")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Yes (I authorize access)").click()
    expect(page.locator(".user")).to_have_text("Signed in as rosalind")
    expect(page.get_by_role("heading", level=1)).to_have_text("Which file is the advice for?")
    page.get_by_role("button", name="Choose a file").click()
    expect(page.locator(".enter").first).to_be_visible()
    assert "ada_genome" not in page.locator("body").inner_text() + page.locator("file-selector .card").inner_text()


def test_a_sign_out_that_the_service_has_not_heard_of_says_so(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    sign_in(page, weather)
    weather.fault("/oauth2/revoke => status 503")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status")).to_have_text("You are signed out here, but Sequencing.com has not revoked the app's access.")
    weather.reset()
    response = requests.post(f"{weather.origin}/sign-out", headers={"Origin": weather.origin}, allow_redirects=False, timeout=10)
    assert response.status_code == 303 and response.headers["Location"] == "/", "a second tab is led to the first page"


def test_a_refusal_at_the_service_changes_nothing(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    page.goto(weather.origin)
    page.get_by_role("link", name="Sign in with Sequencing.com").click()
    page.get_by_label("Password").fill("analytical-engine")
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="No (do not provide access)").click()
    expect(page.get_by_role("status")).to_have_text("You did not sign in. Nothing has changed.")


@pytest.mark.parametrize(("email", "button", "words"), [
    ("new-person@example.test", "Create an account", "Open the link in the email to finish your account."),
    ("ada@example.test", "Reset the password", "Open the link in the email to choose a new password."),
    ("ada@example.test", "Create an account", "That address is already registered."),
    ("stranger", "Create an account", "That is not an email address."), ("", "Reset the password", "Enter your email address.")])
def test_the_sheet_asks_for_an_account_or_a_new_password(
        open_page: OpenPage, weather: Weather, email: str, button: str, words: str) -> None:
    page = open_page(width=390, height=844, reduced_motion="reduce")
    page.goto(weather.origin)
    page.get_by_role("button", name="Create an account or reset the password").click()
    sheet = page.get_by_role("dialog", name="Sequencing.com account")
    expect(sheet.get_by_label("Email address")).to_be_focused()
    fine(page)
    sheet.get_by_label("Email address").fill(email)
    sheet.get_by_role("button", name=button).click()
    expect(sheet.get_by_role("status")).to_contain_text(words)
    page.screenshot(path=artefact(f"registration-{button[:6].strip()}-{email[:3] or 'empty'}-390"))
    fine(page)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.get_by_role("button", name="Create an account or reset the password")).to_be_focused()


def test_the_page_never_sees_a_token_and_other_sites_see_nothing(open_page: OpenPage, weather: Weather) -> None:
    page = open_page()
    seen: list[str] = []
    page.on("response", lambda response: seen.append(response.url + str(response.headers)
                                                     + (response.text() if response.url.startswith(weather.origin) and response.status == 200 else "")))
    sign_in(page, weather)
    choose(page, "Enjoys long walks")
    expect(days(page)).to_have_count(7)
    assert "custom-token-info" not in weather.requests() and "/indexApi.php" in weather.requests(), "the name was asked for with the token"
    # The sandbox's tokens are 40 hexadecimal digits.
    assert not [text for text in seen if text.startswith(weather.origin) and re.search(r"[0-9a-f]{40}", text)]
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    for method, path in (("POST", "/file"), ("POST", "/import"), ("POST", "/import/look"), ("POST", "/import/give-up"), ("POST", "/sign-out"), ("POST", "/copy")):
        response = requests.request(method, weather.origin + path, cookies=cookies, headers={"Origin": "https://evil.example"}, timeout=10)
        assert response.status_code == 403, path
    response = requests.get(weather.origin + "/genes/files?all=true", cookies=cookies, headers={"Sec-Fetch-Site": "cross-site"}, timeout=10)
    assert response.status_code == 403
    other = requests.get(weather.origin + "/genes/files?all=true", timeout=10)
    assert other.status_code == 401


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1000, 900), (390, 844), (320, 640)])
def test_every_page_fits(open_page: OpenPage, weather: Weather, scheme: str, width: int, height: int) -> None:
    page = open_page(width=width, height=height, scheme=scheme, reduced_motion="reduce")
    page.goto(weather.origin)
    page.screenshot(path=artefact(f"weather-welcome-{width}-{scheme}"))
    fine(page)
    sign_in(page, weather)
    page.screenshot(path=artefact(f"weather-start-{width}-{scheme}"))
    choose(page, "Enjoys long walks")
    expect(days(page)).to_have_count(7)
    page.screenshot(path=artefact(f"weather-forecast-{width}-{scheme}"), full_page=True)
    fine(page)
