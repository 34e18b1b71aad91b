"""The user, for servers whose pages are plain HTML forms: log in, consent, stop at the redirect to the client.

No browser and no JavaScript: it follows redirects by itself, fills the first form that has a password field, and presses the
accepting button of any other form.
"""

import re
import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import parse_qs, urljoin, urlsplit

import requests

ACCEPT = re.compile(r"accept|allow|authori[sz]e|approve|grant|consent|continue|yes|log ?in|sign ?in|submit", re.I)
REJECT = re.compile(r"deny|cancel|refuse|reject|decline|log ?out|sign ?out|switch|\bno\b|delete|forgot|register|back", re.I)
USERNAME = re.compile(r"^(user(_?name)?|login|email)$", re.I)


class LoginRefused(RuntimeError):
    """The pages led nowhere; the message quotes what the last one said."""


@dataclass
class Button:
    name: str = ""
    value: str = ""
    text: str = ""


@dataclass
class Form:
    action: str
    method: str
    fields: list[tuple[str, str, str]] = field(default_factory=list)
    buttons: list[Button] = field(default_factory=list)

    def has(self, kind: str) -> bool:
        return any(k == kind for _, k, _ in self.fields)

    def asks_for_user(self) -> bool:
        return any(USERNAME.match(name) and kind in ("text", "email") for name, kind, _ in self.fields)

    def button(self, accept: bool) -> Button | None:
        wanted, other = (ACCEPT, REJECT) if accept else (REJECT, None)
        return next((b for b in self.buttons if wanted.search(b.text) and not (other and other.search(b.text))), None)


class FormParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.form: Form | None = None
        self.pressed: Button | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        a = {name: value or "" for name, value in attrs}
        kind = a.get("type", "text" if tag == "input" else "submit").lower()
        if tag == "form":
            self.form = Form(a.get("action", ""), a.get("method", "get").lower())
            self.forms.append(self.form)
        elif self.form is None:
            return
        elif kind in ("submit", "image") and tag in ("input", "button"):
            button = Button(a.get("name", ""), a.get("value", ""), f"{a.get('value', '')} {a.get('name', '')}")
            self.form.buttons.append(button)
            self.pressed = button if tag == "button" else None
        elif tag == "input" and kind not in ("radio", "button", "checkbox"):
            self.form.fields.append((a.get("name", ""), kind, a.get("value", "")))
        elif tag == "input" and kind == "checkbox":
            self.form.fields.append((a.get("name", ""), kind, a.get("value", "on")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        elif tag == "button":
            self.pressed = None

    def handle_data(self, data: str) -> None:
        if self.pressed is not None:
            self.pressed.text += " " + data.strip()


def forms(page: str) -> list[Form]:
    parser = FormParser()
    parser.feed(page)
    return parser.forms


def text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", page)).strip()[:400]


def is_redirect(url: str, redirect_uri: str | None, server: str) -> bool:
    """Whether an address is the client's. A pushed request does not show which that is, but that it is not the server's."""
    a, b = urlsplit(url), urlsplit(redirect_uri or server)
    if redirect_uri is None:
        return (a.scheme, a.netloc) != (b.scheme, b.netloc)
    return (a.scheme, a.hostname, a.port, a.path) == (b.scheme, b.hostname, b.port, b.path)


def walk(url: str, username: str, password: str, *, consent: bool = True, seconds: float = 30) -> str:
    """The redirect URL, with the server's answer in its query. It is not visited."""
    session = requests.Session()
    session.trust_env = False
    session.headers["User-Agent"] = "interop-user/1"
    redirect_uri = parse_qs(urlsplit(url).query).get("redirect_uri", [None])[0]
    end, logins = time.monotonic() + seconds, 0
    request: tuple[str, str, list[tuple[str, str]] | None] = ("GET", url, None)
    while time.monotonic() < end:
        answer = session.request(request[0], request[1], data=request[2], allow_redirects=False, timeout=10)
        if answer.is_redirect:
            target = urljoin(answer.url, answer.headers["Location"])
            if is_redirect(target, redirect_uri, url):
                return target
            request = ("GET", target, None)
            continue
        found = forms(answer.text)
        login = next((f for f in found if f.has("password")), next((f for f in found if f.asks_for_user()), None))
        logins += login is not None
        other = next((f for f in found if f.method == "post" and (f.button(consent) or not f.buttons)), None)
        form = login or other
        if form is None or logins > 3:
            raise LoginRefused(f"stuck at {answer.status_code} {answer.url.split('?')[0]}: {text(answer.text)}")
        request = submit(answer, form, username, password, accept=consent or login is not None)
    raise LoginRefused("out of time")


def submit(answer: requests.Response, form: Form, username: str, password: str,
           accept: bool) -> tuple[str, str, list[tuple[str, str]] | None]:
    data = [(name, filled(name, kind, value, username, password)) for name, kind, value in form.fields
            if name and (accept or kind != "checkbox")]
    button = form.button(accept)
    if button and button.name:
        data.append((button.name, button.value))
    action = urljoin(answer.url, form.action or answer.url)
    if form.method == "post":
        return "POST", action, data
    return "GET", requests.Request("GET", action, params=data).prepare().url or action, None


def filled(name: str, kind: str, value: str, username: str, password: str) -> str:
    if kind == "password":
        return password
    return username if USERNAME.match(name) and kind in ("text", "email") else value
