"""The dossier's timelines (`Documentation/Protocols/connect-button-motion.json`), and what `<connect-button>` draws at a moment of a change."""

import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page

from button_page import ROOT, ButtonServer
from button_visit import hold, opened, settled, shown

MOTION = json.loads((ROOT / "Documentation/Protocols/connect-button-motion.json").read_text())
TRANSITIONS = {each["id"]: each for each in MOTION["transitions"]}


def progress(curve: str, part: float) -> float:
    """A CSS curve, by bisection."""
    x1, y1, x2, y2 = MOTION["curves"][curve]
    place = lambda a, b, t: 3 * (1 - t) ** 2 * t * a + 3 * (1 - t) * t * t * b + t ** 3  # noqa: E731
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if place(x1, x2, middle) < part else (low, middle)
    return place(y1, y2, low)


def part_of(value: Any) -> float:
    """A colour counts as the part of it that is not the pill's."""
    return float(value) if isinstance(value, int | float) else float(value != "pill")


def value(track: dict[str, Any], time: float) -> float:
    """Of a track at a time, in milliseconds or as a fraction."""
    frames = [(frame["t"], part_of(frame["value"])) for frame in track["keyframes"]]
    if time <= frames[0][0]:
        return frames[0][1]
    if time >= frames[-1][0] or track["curve"] == "step":
        return [worth for at, worth in frames if at <= time][-1]
    for (begin, one), (end, other) in zip(frames, frames[1:], strict=False):
        if begin <= time < end:
            return one + (other - one) * progress(track["curve"], (time - begin) / (end - begin))
    return frames[-1][1]


def upstream(transition: str, time: float) -> dict[str, float]:
    """Every track at a time, by element and property. Two tracks of one property follow one another."""
    found: dict[str, float] = {}
    for track in TRANSITIONS[transition]["tracks"]:
        if "keyframes" in track and isinstance(track["curve"], str) and not track["element"].startswith("footer"):
            name = f"{track['element']}.{track['property']}"
            if name not in found or time >= track["keyframes"][0]["t"]:
                found[name] = value(track, time)
    return found


# What is drawn, in the dossier's terms.
POSE = """() => { const root = one.shadowRoot; const $ = name => root.querySelector(name); const style = name => getComputedStyle($(name))
  const opacity = name => $(name) ? Number(style(name).opacity) : 0
  const [pill, knob, disc, confirm] = ['.pill', '.knob', '.disc', '.email button'].map($)
  const turn = getComputedStyle(one).direction === 'rtl' ? -1 : 1
  const way = turn * (pill.clientWidth - knob.offsetWidth - 8 * knob.offsetWidth / 62)
  const shift = name => parseFloat(style(name).translate) || 0
  const round = (element, side) => { const text = getComputedStyle(element)[turn < 0 ? 'borderTopRightRadius' : 'borderTopLeftRadius']
    return text.endsWith('%') ? parseFloat(text) / 50 : parseFloat(text) / (side / 2) }
  const scale = name => Number(style(name).scale === 'none' ? 1 : style(name).scale)
  const labels = [...root.querySelectorAll('.switch > span')]
  const bar = $('.bar'); const moved = style('.bar').translate
  const width = bar.clientWidth; const x = moved.endsWith('%') ? parseFloat(moved) / 100 * width : parseFloat(moved)
  return { 'knob.position': shift('.knob') / way, 'knob.scale': scale('.disc'), 'knob.curvatureStart': round(disc, disc.offsetWidth), 'knobIcon.alpha': opacity('.icon'),
    'knob.shadowOpacity': opacity('.shade') / 4, 'knob.disc': opacity('.disc'), 'switchLayer.alpha': opacity('.knob'), 'confirm.position': 1 + shift('.email button') / way,
    'confirm.scale': scale('.email button'), 'confirm.curvatureStart': round(confirm, confirm.offsetWidth), 'confirm.alpha': opacity('.email button'),
    'emailField.alpha': opacity('.email input'), 'labelNew.alpha': Number(getComputedStyle(labels[0]).opacity), 'labelOld.alpha': labels[1] ? Number(getComputedStyle(labels[1]).opacity) : 0,
    'pill.email': opacity('.ground.grey'), 'pill.brand': opacity('.ground.brand'), 'progress.alpha': opacity('.bar'), 'progress.fraction': turn * x / width + 1,
    'checkMark.alpha': opacity('.check'), 'checkMark.translateX': shift('.check') / way, 'checkRing.scale': scale('.check circle'),
    'checkTick.strokeEnd': 1 - parseFloat(style('.check path').strokeDashoffset), 'choices.alpha': opacity('.choices') } }"""


@dataclass(frozen=True)
class Change:
    """A change of the button, and the transitions of the dossier that it plays: each from a time on, in milliseconds."""

    before: tuple[str, dict[str, Any]]
    now: tuple[str, dict[str, Any]]
    upstream: dict[str, int]
    # What ours draws in another way, with the reason beside it.
    apart: set[str] = field(default_factory=set)
    # What the transitions leave as it was.
    base: dict[str, float] = field(default_factory=dict)

    @property
    def duration(self) -> int:
        return max(begin + TRANSITIONS[name]["duration"] for name, begin in self.upstream.items())

    def picture(self, time: float) -> dict[str, float]:
        """All of the dossier's values at a time, in what `POSE` measures."""
        found = dict(self.base)
        for name, begin in self.upstream.items():
            if time >= begin:
                found |= upstream(name, time - begin)
        if "pill.colour" in found:
            found["pill.brand" if "brand" in self.now[0] + self.before[0] or {"going_to_service", "connecting"} & {self.now[0], self.before[0]} else "pill.email"] = found["pill.colour"]
        if "checkDot.pathFraction" in found:
            found["dot"] = found["checkDot.pathFraction"]
        if "knob.colour" in found:
            found["knob.disc"] = found["knob.colour"]
        return found

    def expected(self, time: float) -> dict[str, float]:
        """What ours has to draw at a time."""
        beside = self.apart | set(self.base) | {"pill.colour", "knob.colour", "checkDot.pathFraction", "checkDot.alpha", "progress.colour", "dot"}
        begun = {"pill.brand", "checkMark.alpha"} if time >= 1500 else set()
        return {key: worth for key, worth in self.picture(time).items() if key not in beside - begun}


WAITS = {"progress": "indeterminate"}
CHANGES = {
    "C": Change(("loading", {}), ("connect", {}), {"loading_to_connect": 0},
                {"labelOld.alpha", "knob.shadowOpacity"}),  # the pulse; a shadow that is never weaker
    "E": Change(("connect", {}), ("email", {"email": "ada@example.com"}), {"connect_to_email": 0}),
    "G": Change(("connect", {}), ("verifying", WAITS), {"connect_to_verifying": 0}),
    "I": Change(("email", {"email": "ada@example.com"}), ("verifying", WAITS), {"email_to_verifying": 0},
                {"progress.alpha"}),  # MO16: it follows the ground
    "L": Change(("verifying", WAITS), ("going_to_service", WAITS), {"to_going_to_service": 0},
                {"progress.fraction"}, {"progress.alpha": 1}),  # MO15: it grows on
    "N": Change(("going_to_service", WAITS), ("connecting", WAITS), {"to_connecting": 0},
                {"progress.fraction", "progress.alpha"}, {"pill.brand": 1}),  # the colour is the service's already; MO15: it grows on
    "OP": Change(("connecting", WAITS), ("connected", {}), {"connecting_to_check": 0, "check_to_connected": 1500},
                 {"progress.fraction", "labelOld.alpha"}, {"pill.brand": 1, "checkMark.alpha": 1, "labelNew.alpha": 0, "progress.fraction": 1}),
    "Q": Change(("confirm_disconnect", {}), ("disconnecting", WAITS), {"connected_to_disconnecting": 0}, {"labelOld.alpha"}),  # the answers instead
    "T": Change(("disconnected", {"progress": 1}), ("connect", {}), {"disconnected_to_connect": 0}, base={"progress.fraction": 1}),
}


def begin(page: Page, server: ButtonServer, name: str, **attributes: Any) -> None:
    """Shows the button before a change, at rest, and then lets the change begin; what it sets moving is held."""
    change, script = CHANGES[name], server.script()
    opened(page, server, script.answer(change.before[0], **change.before[1]), **attributes)
    settled(page)
    hold(page)
    step, options = change.now
    server.pushed["one"] = script.answer(step, revision=2, **options)
    shown(page, step)


def seek(page: Page, milliseconds: float) -> None:
    """Leads what is held to a time."""
    page.evaluate("t => { for (const a of one.shadowRoot.getAnimations()) if (a.playState === 'paused') a.currentTime = t }", milliseconds)


def pose(page: Page) -> dict[str, float]:
    return page.evaluate(POSE)
