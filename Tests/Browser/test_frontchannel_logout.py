"""The page at which a session at the standard server ends, and the frames in it that tell the apps, in Chromium."""

import socket
import time

from playwright.sync_api import Page, expect

from accounts_visit import connect, log_in, open_app, row
from conftest import OpenPage
from sandbox import RedirectCatcher, Sandbox
from strangers import http


def test_the_page_at_the_end_loads_the_apps_frame_with_issuer_and_session(
        sandbox: Sandbox, catcher: RedirectCatcher, page: Page) -> None:
    service = sandbox.services["standard"]
    client = http().post(service.origin + "/register", timeout=10, json={
        "redirect_uris": [catcher.origin + "/callback"], "application_type": "native", "token_endpoint_auth_method": "none",
        "frontchannel_logout_uri": catcher.origin + "/frontchannel", "frontchannel_logout_session_required": True,
    }).json()["client_id"]
    user = service.user()
    page.goto(service.authorization_url(catcher.origin, client_id=client, redirect_uri=catcher.origin + "/callback",
                                        scope="openid"))
    page.get_by_label("E-mail address").fill(user["name"])
    page.get_by_label("Password", exact=True).fill(user["password"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Allow", exact=True).click()
    expect(page.get_by_role("heading", name="Caught")).to_be_visible()
    assert "code" in catcher.caught[-1]
    page.goto(service.origin + "/end_session")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
    end = time.monotonic() + 20
    while "sid" not in catcher.caught[-1]:
        assert time.monotonic() < end, f"the frame was not loaded: {catcher.caught[-1]}"
        page.wait_for_timeout(50)
    assert catcher.caught[-1]["iss"] == service.origin and catcher.caught[-1]["sid"]
    page.goto(service.origin + "/end_session")
    expect(page.locator("iframe")).to_have_count(0)


def test_m610_an_app_loses_this_browsers_session_when_its_user_signs_out_at_the_server(sandbox: Sandbox, open_page: OpenPage) -> None:
    """The routes of HandshakeServer in `Examples/ConnectedAccounts`, in a frame of another server's page."""
    service = sandbox.services["standard"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    routes = f"http://127.0.0.1:{port}/connect/standard"
    client = http().post(service.origin + "/register", timeout=10, json={
        "redirect_uris": [routes + "/callback"], "application_type": "native", "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"], "frontchannel_logout_uri": routes + "/frontchannel-logout",
        "frontchannel_logout_session_required": True,
    }).json()["client_id"]
    with open_app("--port", str(port), "--provider", service.origin, "--provider-client", client) as app:
        page, elsewhere = open_page(), open_page()
        for browser in (page, elsewhere):
            log_in(browser, app)
        connect(page, app, "standard")
        page.goto(service.origin + "/end_session")
        with page.expect_response(lambda answer: answer.url.startswith(routes + "/frontchannel-logout?")) as framed:
            page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
        assert framed.value.status == 200
        expect(page.frame_locator("iframe").locator("h1")).to_have_count(1)
        page.goto(app.origin)
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        assert "session" not in [cookie["name"] for cookie in page.context.cookies(app.origin)]
        # The session of the other browser stays, and so do the tokens: a front channel revokes nothing.
        elsewhere.goto(app.origin)
        expect(row(elsewhere, "standard")).not_to_contain_text("Not connected")
        # What names another server ends nothing, nor does a link.
        refused = elsewhere.request.get(routes + "/frontchannel-logout?iss=https%3A%2F%2Fevil.example&sid=x")
        assert refused.status == 400
        answer = elsewhere.goto(routes + "/frontchannel-logout")
        assert answer and answer.status == 400
        elsewhere.goto(app.origin)
        expect(row(elsewhere, "standard")).to_be_visible()
