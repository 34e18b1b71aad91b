"""A page with `<connect-button>`s in it, and the server that they talk to: scripted answers, recorded messages."""

import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import person
from component_page import PageHandler, document, page_url, running
from playwright.sync_api import Page

# Tests/Mutations names a copy of the repository, in which the script lacks something.
ROOT = Path(os.environ.get("HANDSHAKE_REPOSITORY") or Path(__file__).parents[2])
SCRIPT = ROOT / "Sources/ConnectButton/Web/connect-button.js"
# What the package carries.
MINIFIED = SCRIPT.with_suffix(".min.js")
VECTORS = json.loads((ROOT / "Tests/ConnectButtonTests/Vectors.json").read_text())
CATALOGUE = json.loads((ROOT / "Sources/ConnectButton/Words/Strings.xcstrings").read_text())["strings"]


# Nothing inline, nothing from elsewhere: the button must get along with it.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"

# The room that `ConnectButtonScript.reservation` asks pages to keep; a Swift test holds the numbers to the tokens.
STYLE = """
:root { color-scheme: light dark; background: light-dark(#ffffff, #121212); color: light-dark(#1c2024, #eceef0) }
body { margin: 0 auto; padding: 1rem; max-width: 46rem; font: 1rem/1.5 system-ui, "Noto Sans", sans-serif }
h1 { font-size: 1rem; margin: 0 0 1rem }
main > * + * { margin-block-start: 1.5rem }
connect-button:not(:defined) {
  display: block; inline-size: 100%; margin-inline: auto; max-inline-size: calc(329 * max(1px, .0625rem));
  block-size: calc(143.8 * max(1px, .0625rem)) }
connect-button[footer=none]:not(:defined) { block-size: calc(70 * max(1px, .0625rem)) }
"""

PAGE_SCRIPT = """
const button = await import('/connect-button.js')
Object.assign(window, { button, heard: [] })
for (const element of document.querySelectorAll('connect-button')) {
  for (const name of ['change', 'connected', 'disconnected', 'failed']) element.addEventListener(name, event => heard.push([name, element.id, event.detail]))
}
document.addEventListener('securitypolicyviolation', event => heard.push(['violation', event.violatedDirective]))
"""

ICON = ('<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64" viewBox="0 0 64 64"><path fill="#fff" d="M32 4a22 22 0 0 '
        '0-22 22c0 16 22 34 22 34s22-18 22-34A22 22 0 0 0 32 4zm0 30a8 8 0 1 1 0-16 8 8 0 0 1 0 16z"/></svg>')


def word(key: str, locale: str, *names: str, count: int | None = None) -> str:
    """A text of the catalogue, filled in as the server does it."""
    entry = CATALOGUE[key]["localizations"][locale]
    unit = entry.get("stringUnit") or entry["variations"]["plural"]["other"]["stringUnit"]
    text = unit["value"]
    for at, name in enumerate(names if count is None else (str(count),)):
        text = text.replace(f"%{at + 1}$@", name if count is not None else f"\u2068{name}\u2069")
    return text


def runs(text: str) -> list[dict[str, str]]:
    pieces = text.split("IFTTT")
    found = [{"text": pieces[0], "style": "plain"}]
    for piece in pieces[1:]:
        found += [{"text": "IFTTT", "style": "mark"}, {"text": piece, "style": "plain"}]
    return [run for run in found if run["text"]]


RETRYABLE = {"offline", "unavailable", "too_many", "sign_in_expired", "account_not_created", "app_not_opened", "not_disconnected", "interrupted"}
# Where the footer, which says something of its own, has the About page among its actions.
OFFERING_ABOUT = {"connect", "email", "verifying", "creating_account", "going_to_service", "connected", "pending"}


# What a real server answers to each message, and what it tells later down the stream; test_grocery_waiting.py holds a real one to
# it. What follows at IFTTT goes on behind the answer, and the address comes with the answer to "proceed" alone.
UNDER_WAY = {"progress": "indeterminate", "cancellable": True}
ANSWERED: dict[str, tuple[str, dict[str, Any]]] = {
    "turn_on": ("email", {"cancellable": True}),
    "email": ("verifying", UNDER_WAY),
    "proceed": ("going_to_service", UNDER_WAY),
    "turn_off": ("confirm_disconnect", {}),
    "keep": ("connected", {}),
    "disconnect": ("disconnecting", UNDER_WAY),
    "cancel": ("connecting", {"progress": "indeterminate"}),  # while it is disconnecting
    "invalid_email": ("email", {"cancellable": True, "failure": "invalid_email"}),  # to "email" with what is no address
}
TOLD: dict[str, tuple[str, dict[str, Any]]] = {
    "email": ("going_to_service", {**UNDER_WAY, "canOpen": True}),
    "creating_account": ("creating_account", UNDER_WAY),  # of "email", while the app has not said yet who the user is
    "invalid_email": ("email", {"cancellable": True}),
    "disconnect": ("disconnected", {"progress": 1}),
    "cancel": ("connected", {}),
}


def shape(answer: dict[str, Any]) -> tuple[Any, ...]:
    """What of an answer is the server's own, whatever the texts, the revision and the connection."""
    state = answer["state"]
    is_cancellable = any(action["kind"] == "cancel" for action in answer["face"]["actions"])
    failure = (state.get("failure") or {}).get("kind")
    return state["step"], failure, state["progress"], is_cancellable, bool(answer.get("canOpen")), bool(answer.get("open"))


Delay = float | threading.Event
"""Seconds, or until it is released."""


class Script:
    """Makes the answers of a server, `ConnectButtonAnswer` in JSON; `FaceTests` holds Swift to the same texts."""

    def __init__(self, origin: str, locale: str = "en-US", short: str = "Location", full: str = "Location Service", brand: str = "#0099FF",
                 icon: str | None = "/icon.svg") -> None:
        self.locale, self.short, self.full = locale, short, full
        icon = icon and (origin + icon if icon.startswith("/") else icon)
        self.connection = {
            "id": "aB3dE5fG", "url": "https://ifttt.com/connections/aB3dE5fG",
            "primary": {"name": "Lumen Garden", "shortName": "Lumen", "icon": icon, "brand": "#2B8A3E", "url": "https://ifttt.com/lumen_garden"},
            "connecting": {"name": full, "shortName": short, "icon": icon, "brand": brand, "url": "https://ifttt.com/location"}}

    def answer(self, step: str, revision: int = 1, failure: str | None = None, undo: tuple[float, float] | None = None, email: str | None = None,
               cancellable: bool = False, progress: Any = "none", following: str | None = None, **more: Any) -> dict[str, Any]:
        w = lambda key, *names, **options: word(key, self.locale, *names, **options)  # noqa: E731
        labels = {"hidden": "", "loading": w("loading"), "loading_failed": w("connect_any"), "connect": w("connect", self.short), "email": w("email_placeholder"),
                  "verifying": w("verifying"), "creating_account": w("creating_account"), "going_to_service": w("going_to", self.full),
                  "connecting": w("connecting"), "connected": w("connected"), "pending": w("pending"), "confirm_disconnect": w("confirm_disconnect", self.short),
                  "disconnecting": w("disconnecting"), "disconnected": w("disconnected")}
        label = labels[step]
        name = label if step in ("hidden", "connect", "going_to_service", "confirm_disconnect") else f"{label}, \u2068{self.short}\u2069"
        text, tone = {"email": (w("email_secured"), "plain"), "creating_account": (w("account_creation", email or ""), "plain"),
                      "going_to_service": (w("waiting_note"), "plain"), "pending": (w("pending_note", "Lumen"), "plain"),
                      "confirm_disconnect": (label, "plain")}.get(step, (w("works_with"), "lead"))
        actions = []
        if undo:
            text, tone = w("undo_seconds", count=round(undo[0])), "plain"
        if failure:
            text, tone = w(failure), "plain" if failure == "cancelled" else "error"
            if failure in RETRYABLE and step != "email":
                actions.append({"kind": "retry", "title": w("try_again")})
        if undo:
            actions.append({"kind": "undo", "title": w("undo")})
        if step == "pending":
            actions.append({"kind": "disconnect", "title": w("disconnect")})
        if cancellable:
            actions.append({"kind": "cancel", "title": w("cancel")})
        has_connection = step not in ("loading", "loading_failed")
        if has_connection and tone != "lead" and not undo and step in OFFERING_ABOUT:
            actions.append({"kind": "about", "title": w("learn_more")})
        following = following or {"connect": "verifying", "connected": "confirm_disconnect", "pending": "confirm_disconnect"}.get(step)
        link = w("legal_link")
        before, after = w("legal").split("%1$@")
        state = {"step": step, "connection": self.connection if has_connection else None, "email": email, "progress": progress,
                 "isCancellable": cancellable, "next": following, "failure": failure and {"kind": failure, "detail": "for developers"},
                 "undo": undo and {"remaining": undo[0], "total": undo[1]}, "manageURL": "https://ifttt.com/connections/aB3dE5fG/edit"}
        face = {"label": label, "name": name, "toggled": labels[following] if following else label, "footer": runs(text), "tone": tone, "actions": actions,
                "announcement": "" if step in ("hidden", "connect") and not failure else text if failure or undo else name,
                "choices": [{"kind": kind, "title": w(kind)} for kind in ("disconnect", "keep")] if step == "confirm_disconnect" else [],
                "emailField": w("email_placeholder"), "emailConfirm": w("continue"),
                "about": has_connection and {
                    "title": runs(w("about_title", "Lumen", self.short)), "benefits": [w(f"about_{name}") for name in ("connect", "control", "security", "manage")],
                    "manage": w("manage_connection"), "store": w("store"), "close": w("close"),
                    "legal": [run for run in ({"text": before, "style": "plain"}, {"text": link, "style": "link"}, {"text": after, "style": "plain"}) if run["text"]]}}
        return {"revision": revision, "token": "token-1", "locale": self.locale, "state": state, "face": face} | more


class ButtonServer:
    """Serves the page, the script and each connection's answers."""

    generation = 0

    def __init__(self) -> None:
        outer = self
        self.reset()

        class Handler(PageHandler):
            policy = POLICY
            protocol_version = "HTTP/1.1"

            def is_late(self) -> bool:
                """Whether the page of an earlier test asks: its last message may come when the next test has begun."""
                page = parse_qs(urlsplit(self.headers.get("Referer", "")).query)
                return page.get("generation", [str(outer.generation)]) != [str(outer.generation)]

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if self.is_late():
                    return self.send(410, "text/plain", b"")
                if parts.path == "/page":
                    self.send(200, "text/html", outer.html(parse_qs(parts.query, keep_blank_values=True)).encode())
                elif parts.path == "/connect-button.js":
                    time.sleep(outer.script_delay)
                    self.send(200, "text/javascript", SCRIPT.read_bytes())
                elif parts.path == "/page.js":
                    self.send(200, "text/javascript", PAGE_SCRIPT.encode())
                elif parts.path == "/page.css":
                    self.send(200, "text/css", STYLE.encode())
                elif parts.path == "/icon.svg":
                    outer.icons += 1
                    is_there = outer.icons > outer.icons_failing
                    self.send(200 if is_there else 503, "image/svg+xml" if is_there else "text/plain", ICON.encode() if is_there else b"")
                elif parts.path == "/elsewhere":
                    self.send(200, "text/html", b"<!doctype html><html lang=en><title>Elsewhere</title><h1>Elsewhere</h1>")
                elif parts.path.endswith("/changes"):
                    self.changes(parts.path.split("/")[-2])
                elif parts.path.startswith("/connect/"):
                    outer.asked.append(without_page(self.path))
                    self.reply(outer.states.get(parts.path.split("/")[-1], (404, {}, 0)))
                else:
                    self.send(404, "text/plain", b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                name = urlsplit(self.path).path.split("/")[-2]
                if self.is_late():
                    return self.send(410, "text/plain", b"")
                if urlsplit(self.path).path.endswith("/counts"):
                    outer.counts.append({"connection": name, "type": self.headers["Content-Type"], **outer.message(body)})
                    outer.counting.wait(10)
                    return self.reply((outer.counting_status, b"", 0))
                outer.messages.append({"connection": name, "path": self.path, "type": self.headers["Content-Type"], **outer.message(body)})
                queue = outer.replies.get(name, [])
                reply = queue.pop(0) if queue else outer.states.get(name, (404, {}, 0))
                if callable(reply):
                    reply = reply(outer.messages[-1])
                if reply[0] == 200 and isinstance(reply[1], dict) and reply[1].get("state"):
                    outer.states[name] = (200, {k: v for k, v in reply[1].items() if k != "open"}, 0)
                self.reply(reply)

            def changes(self, name: str) -> None:
                if not outer.has_events:
                    return self.send(404, "text/plain", b"")
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                outer.streams += 1
                generation, sent, beat = outer.generation, None, 0
                outer.listening.append(name)
                try:
                    while not outer.closing and outer.generation == generation:
                        pushed = outer.pushed.get(name)
                        if pushed is not sent:
                            sent = pushed
                            self.wfile.write(b"data: " + json.dumps(pushed).encode() + b"\n\n")
                            outer.delivered[name] = pushed
                        elif (beat := beat + 1) % 10 == 0:
                            self.wfile.write(b":\n\n")  # notices who has left
                        self.wfile.flush()
                        time.sleep(0.02)
                except OSError:
                    pass
                finally:
                    if outer.generation == generation:
                        outer.listening.remove(name)

            def reply(self, reply: tuple[int, Any, Delay]) -> None:
                status, body, delay = reply
                delay.wait(120) if isinstance(delay, threading.Event) else time.sleep(delay)
                if status == 0:
                    self.close_connection = True
                    self.connection.close()
                    return
                self.send(status, "application/json", body if isinstance(body, bytes) else json.dumps(body).encode())

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                pass  # a page that leaves while an answer is on its way is no error

        self.server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"

    def reset(self) -> None:
        self.closing = False
        self.generation += 1
        self.states: dict[str, tuple[int, Any, Delay]] = {}
        self.replies: dict[str, list[Any]] = {}
        self.messages: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.pages: set[str] = set()  # which pages have sent messages
        self.counts: list[dict[str, Any]] = []
        self.counting_status = 202
        self.counting = threading.Event()  # until it is set, nothing that is counted is answered
        self.counting.set()
        self.pushed: dict[str, Any] = {}
        self.delivered: dict[str, Any] = {}  # what of it is on its way to the page
        self.has_events = True
        self.streams = 0
        self.listening: list[str] = []  # whose streams are open
        self.icons = self.icons_failing = 0
        self.script_delay = 0.0

    def message(self, body: bytes) -> dict[str, Any]:
        """A message without the page's own name, which is kept apart."""
        members = json.loads(body)
        self.pages.add(members.pop("page"))
        return members

    def script(self, **options: Any) -> Script:
        return Script(self.origin, **options)

    def shows(self, answer: dict[str, Any], connection: str = "one", delay: Delay = 0) -> None:
        self.states[connection] = (200, answer, delay)

    def answers(self, *answers: Any, connection: str = "one", delay: Delay = 0) -> None:
        """What the next messages are answered with."""
        self.replies.setdefault(connection, []).extend(
            answer if callable(answer) or isinstance(answer, tuple) else (200, answer, delay) for answer in answers)

    @staticmethod
    def html(query: dict[str, list[str]]) -> str:
        take = lambda name: query.pop(name, [""])[0]  # noqa: E731
        direction, language, connections, inside, root = take("page-dir"), take("page-lang"), take("connections"), take("inside"), take("page-style")
        take("generation")
        attributes = " ".join(f'{name}="{escape(values[0])}"' for name, values in query.items())
        data = f'<script type="application/json">{inside.replace("<", chr(92) + "u003c")}</script>' if inside else ""
        elements = "".join(f'<connect-button id="{name}" connection="{name}" {attributes}>{data}</connect-button>'
                           for name in (connections or "one").split(","))
        return document(f"{elements}<p>What comes after the button.</p>", language, direction, root)

    def url(self, **attributes: Any) -> str:
        return page_url(self.origin, attributes | {"generation": self.generation})


def without_page(path: str) -> str:
    """An address without the page's own name."""
    return re.sub(r"[?&]page=\w+", "", path).replace("one&", "one?", 1)


@contextmanager
def serving() -> Iterator[ButtonServer]:
    one = ButtonServer()
    with running(one.server):
        try:
            yield one
        finally:
            one.closing = True


def plain(text: str) -> str:
    """Without the invisible isolates around names."""
    return text.replace("\u2068", "").replace("\u2069", "")


def heard(page: Page, name: str) -> list[Any]:
    return [entry[1:] for entry in page.evaluate("heard") if entry[0] == name]


def overflow(page: Page) -> list[str]:
    return person.overflow(page, ".grounds, .unseen, .check")
