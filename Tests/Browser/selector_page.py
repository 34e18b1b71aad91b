"""A page with a `<file-selector>` in it, the server it comes from, and a person who can see into its shadow tree."""

import json
import os
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
from person import Person
from playwright.sync_api import Locator, Page

# Tests/Mutations names a copy of the repository, in which the script lacks something.
MODULE = Path(os.environ.get("HANDSHAKE_REPOSITORY") or Path(__file__).parents[2]) / "Sources/FileSelector"
SCRIPT = MODULE / "Web/file-selector.js"
MARKUP = "<img src=x onerror=\"document.title='hit'\"><b>grace</b>&amp;.vcf"

# Nothing inline, nothing from elsewhere: the selector must get along with it.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src blob: 'self'; base-uri 'none'"

STYLE = """
:root { color-scheme: light dark; background: light-dark(#f5f4f0, #15181b); color: light-dark(#1c2024, #eceef0) }
body { margin: 0 auto; padding: 1rem; max-width: 46rem; font: 1rem/1.5 system-ui, "Noto Sans", sans-serif }
h1 { font-size: 1rem; margin: 0 0 1rem }
:focus-visible { outline: 3px solid; outline-offset: 2px }
"""



def served_script(script: Path = SCRIPT) -> bytes:
    """The module as `FileSelectorScript` serves it: texts, look and what both components share before the component's own code."""
    catalogue = json.loads((MODULE / "Words/Strings.xcstrings").read_text())["strings"]
    words: dict[str, dict[str, Any]] = {}
    for key, entry in catalogue.items():
        for tag, text in entry["localizations"].items():
            forms = text.get("variations", {}).get("plural")
            words.setdefault(tag, {})[key] = (
                {form: each["stringUnit"]["value"] for form, each in forms.items()} if forms else text["stringUnit"]["value"])
    look = json.loads((MODULE / "Look/Look.json").read_text())
    data = f"const WORDS = {json.dumps(words, ensure_ascii=False)}\nconst LOOK = {json.dumps(look)}\n"
    return data.encode() + (MODULE / "Web/shared.js").read_bytes() + script.read_bytes()


PAGE_SCRIPT = """
import '/file-selector.js'
window.selector = document.querySelector('file-selector')
window.heard = []
for (const name of ['select', 'continue', 'close', 'refresh', 'error']) {
  selector.addEventListener(name, event => heard.push([name, event.detail]))
}
document.addEventListener('securitypolicyviolation', event => heard.push(['violation', event.violatedDirective]))
"""


def sample(identifier: int, persona: str | None, line: str | None, sex: str | None, **more: Any) -> dict[str, Any]:
    return {"Id": str(identifier), "Name": f"sample-{identifier}.vcf.gz", "DateAdded": "2016-03-11T09:30:00", "Ext": ".vcf.gz",
            "FileCategory": "Community", "FileType": "VCF", "FileSubType": "Genome", "FriendlyDesc1": persona,
            "FriendlyDesc2": line, "Population": "European", "Sex": sex} | more


def own(identifier: Any, name: Any, category: Any = "Uploaded", **more: Any) -> dict[str, Any]:
    return {"Id": identifier, "Name": name, "DateAdded": "2017-01-20T18:02:11", "Ext": ".vcf.gz", "FileCategory": category,
            "FileType": "VCF", "FileSubType": None, "FriendlyDesc1": None, "FriendlyDesc2": None, "Population": None,
            "Sex": None} | more


SAMPLES = [
    sample(910001, "Ada", "Enjoys long walks and longer proofs", "Female"),
    sample(910002, "Charles", "Keeps a very large engine in the shed", "Male"),
    sample(910003, "Grace", "Carries a nanosecond in her pocket", "Female", Population="Asian", DateAdded="2018-05-01"),
    sample(910004, "Ramón & Søren", "\"Siblings\" & café owners, 日本語 readers too", "Male"),
    sample(910005, "Robin", "Prefers not to say", None),
    sample(910006, "Emmy", None, "Female"),
    sample(910007, None, None, "Unspecified"),
    sample(910008, "<b>Tim</b>", "<script>document.title='hit'</script> is only text", "Male"),
]
OWN = [
    own("227001", "ada_genome.vcf.gz"),
    own("227002", "family.vcf.gz", DateAdded="2017-01-21T08:00:00"),
    own("227003", "family.vcf.gz", DateAdded="2017-02-03T21:45:30"),
    own("227004", "error_invalid_exception.vcf", DateAdded="2015-02-04T10:10:10"),
    own("227005", MARKUP),
    own("227006", "chr10.fastq.gz", FileType="FASTQ"),
    own("227007", "grace_exome.vcf.gz", "SharedToMe"),
    own("227008", "brother's & sister's.vcf.gz", "SharedToMe"),
    own("227009", "weather-my-way.vcf.gz", "FromApps"),
    own("227011", "altruist-cohort.vcf.gz", "AllWithAltruist"),
]
ALL = SAMPLES + OWN
MANY = SAMPLES + [own(str(400_000 + n), f"cohort-{n:04}.vcf.gz", DateAdded=f"{2010 + n % 10}-03-{1 + n % 28:02}T00:00:00")
                  for n in range(1, 5001)]


SHEET_SCRIPT = """
import '/registration-sheet.js'
window.sheet = document.querySelector('registration-sheet')
sheet.show()
"""


class SelectorServer:
    """Serves the page, the script and `answers`, a path's status, body and delay; and a page with a `<registration-sheet>`."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, bytes, float | threading.Event]] = {}
        self.asked: list[str] = []
        self.submitted: list[dict[str, list[str]]] = []
        self.registered: list[Any] = []  # what the registration sheet has sent
        self.registration: list[bytes] = []  # how it is answered, in pieces
        outer = self

        class Handler(PageHandler):
            policy = POLICY

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == "/page":
                    self.send(200, "text/html", outer.html(parse_qs(parts.query, keep_blank_values=True)).encode())
                elif parts.path == "/sheet":
                    self.send(200, "text/html", document("<registration-sheet></registration-sheet>", "", "").replace("page.js", "sheet.js").encode())
                elif parts.path == "/sheet.js":
                    self.send(200, "text/javascript", SHEET_SCRIPT.encode())
                elif parts.path == "/file-selector.js":
                    self.send(200, "text/javascript", served_script())
                elif parts.path == "/registration-sheet.js":
                    self.send(200, "text/javascript", served_script(SCRIPT.with_name("registration-sheet.js")))
                elif parts.path == "/page.js":
                    self.send(200, "text/javascript", PAGE_SCRIPT.encode())
                elif parts.path == "/page.css":
                    self.send(200, "text/css", STYLE.encode())
                elif parts.path == "/sent":
                    outer.submitted.append(parse_qs(parts.query, keep_blank_values=True))
                    self.send(200, "text/html", b"<!doctype html><html lang=en><title>Sent</title><h1>Sent</h1>")
                elif parts.path == "/files":
                    outer.asked.append(parts.query)
                    status, body, delay = outer.answers.get(parts.query) or outer.listed(parse_qs(parts.query))
                    delay.wait(10) if isinstance(delay, threading.Event) else time.sleep(delay)
                    self.send(status, "application/json", body)
                else:
                    self.send(404, "text/plain", b"")

            def do_POST(self) -> None:
                outer.registered.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                try:
                    for piece in outer.registration:
                        self.wfile.write(piece)
                except OSError:
                    outer.registered.append("the page had enough")

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, query: str, body: Any, status: int = 200, delay: float | threading.Event = 0) -> None:
        self.answers[query] = (status, body if isinstance(body, bytes) else json.dumps(body).encode(), delay)

    @staticmethod
    def listed(flags: dict[str, list[str]]) -> tuple[int, bytes, float]:
        """As the service: every flag adds its files (dossier 4.1)."""
        words = {"sample": "Community", "uploaded": "Uploaded", "shared": "SharedToMe", "fromApps": "FromApps",
                 "allWithAltruist": "AllWithAltruist"}
        wanted = [word for flag, word in words.items() if flag in flags or "all" in flags]
        return 200, json.dumps([file for file in ALL if file["FileCategory"] in wanted]).encode(), 0

    @staticmethod
    def html(query: dict[str, list[str]]) -> str:
        page = {name: query.pop(name, [""])[0] for name in ("page-dir", "page-lang", "page-form")}
        attributes = " ".join(f'{name}="{escape(values[0])}"' for name, values in query.items())
        element = f"<file-selector {attributes}></file-selector>"
        if page["page-form"]:
            element = f'<form action="/sent">{element}<p><button>Send</button><button type="reset">Reset</button></p></form>'
        return document(element, page["page-lang"], page["page-dir"])

    def url(self, **attributes: Any) -> str:
        return page_url(self.origin, attributes)


@contextmanager
def serving() -> Iterator[SelectorServer]:
    one = SelectorServer()
    with running(one.server):
        yield one


FOCUS = """async () => {
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  let element = document.activeElement
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement
  if (!element || element === document.body) return null
  const rgb = (text) => { const c = (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number)
      return text.startsWith('color(') ? c.map((v, at) => at < 3 ? v * 255 : v) : c }
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  let ground = [255, 255, 255]
  for (let e = element.parentElement; e; e = e.parentElement || e.getRootNode().host) {
    const c = rgb(getComputedStyle(e).backgroundColor)
    if (c.length < 4 || c[3] > 0) { ground = c; break }
  }
  // A field inside a pill is ringed together with it.
  const style = getComputedStyle(element.matches('.pill input') ? element.closest('.pill') : element)
  const [a, b] = [light(rgb(style.outlineColor)), light(ground)].sort((x, y) => y - x)
  const box = element.getBoundingClientRect()
  return { name: element.getAttribute('aria-label') || element.innerText || element.value || '',
           tag: element.tagName.toLowerCase(), type: element.type || '', visible: element.matches(':focus-visible'),
           width: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth), contrast: (a + .05) / (b + .05),
           inView: box.top > -1 && box.bottom < innerHeight + 1 && box.left > -1 && box.right < innerWidth + 1 }
}"""


class ShadowPerson(Person):
    """As a `Person`, but one who looks into shadow trees."""

    def focus(self) -> dict[str, Any] | None:
        return self.page.evaluate(FOCUS)

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def go_to(self, start: str, *, back: bool = False) -> None:
        """Presses Tab until the focus is on something whose name starts so."""
        for _ in range(40):
            focus = self.focus()
            if focus and focus["name"].strip().startswith(start):
                self.see_focus()
                return
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"no way to {start!r} by keyboard")


def choose_own(page: Page) -> None:
    page.get_by_role("button", name="My Files").click()


def choose_samples(page: Page) -> None:
    page.get_by_role("button", name="Sample Files").click()


def options(page: Page) -> Locator:
    return page.get_by_role("listbox").get_by_role("option")


def titles(page: Page) -> list[str]:
    return page.locator(".row:not(.probe) .name").all_inner_texts()


def heard(page: Page, name: str) -> list[Any]:
    return [detail for event, detail in page.evaluate("heard") if event == name]


def overflow(page: Page) -> list[str]:
    return person.overflow(page, ".unseen, .text")
