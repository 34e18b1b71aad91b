"""Draws the film strips of the Connect Button's changes: the web component's real frames from Chromium, SwiftUI's poses from the shared data, and the
dossier's values, one under the other. Fails where they differ. `Scripts/film-strips` runs it.

    python film_strips.py POSES.json FOLDER
"""

import base64
import json
import math
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from button_page import serving
from button_visit import HOLDING
from motion import CHANGES, begin, pose, seek

TIMES = {"E": [0, 100, 200, 300, 400, 500, 600, 700], "G": [0, 100, 200, 300, 400], "I": [0, 100, 200, 300, 400], "L": [0, 100, 200, 300, 400],
         "OP": [0, 100, 200, 300, 400, 700, 800, 900, 1000, 1500, 1600, 1700, 1800, 1900], "Q": [0, 80, 160, 240, 320, 360, 400], "T": [0, 100, 200, 300, 400]}
TITLES = {"E": "connect-to-email", "G": "connect-to-verifying", "I": "email-to-verifying", "L": "verifying-to-going", "OP": "connecting-to-connected",
          "Q": "disconnect", "T": "disconnected-to-connect"}
TOLERANCE = 0.02
# The stage's channels in the dossier's terms.
CHANNELS = {"knobPlace": "knob.position", "knob": "switchLayer.alpha", "disc": "knob.disc", "discScale": "knob.scale", "discRound": "knob.curvatureStart",
            "icon": "knobIcon.alpha", "confirmPlace": "confirm.position", "confirmScale": "confirm.scale", "confirmRound": "confirm.curvatureStart",
            "confirm": "confirm.alpha", "field": "emailField.alpha", "emailGround": "pill.email", "brandGround": "pill.brand", "choices": "choices.alpha",
            "label": "labelNew.alpha", "leavingLabel": "labelOld.alpha", "fill": "progress.fraction", "bar": "progress.alpha", "mark": "checkMark.alpha",
            "markPlace": "checkMark.translateX", "ring": "checkRing.scale", "tick": "checkTick.strokeEnd", "dot": "dot", "shadow": "knob.shadowOpacity"}
# The stage's shadow is a part of the strongest one, which is drawn with this opacity.
STRONGEST = {"shadow": 0.25}
REST = {"knob.position": 0.0, "switchLayer.alpha": 0.0, "knob.disc": 1.0, "knob.scale": 1.0, "knob.curvatureStart": 1.0, "knobIcon.alpha": 1.0,
        "confirm.position": 1.0, "confirm.scale": 1.0, "confirm.curvatureStart": 0.0, "confirm.alpha": 0.0, "emailField.alpha": 0.0, "pill.email": 0.0,
        "pill.brand": 0.0, "choices.alpha": 0.0, "labelNew.alpha": 1.0, "labelOld.alpha": 0.0, "progress.fraction": 0.0, "progress.alpha": 0.0,
        "knob.shadowOpacity": 0.25, "checkMark.alpha": 0.0, "checkMark.translateX": 0.0, "checkRing.scale": 1.0, "checkTick.strokeEnd": 0.0, "dot": 1.0}
LABELS = {"E": ("Connect Location", ""), "G": ("Connect Location", "Verifying…"), "I": ("", "Verifying…"), "L": ("Verifying…", "Going to Location Service…"),
          "OP": ("Connecting…", "Connected"), "Q": ("", "Disconnecting…"), "T": ("Disconnected", "Connect Location")}


# What is drawn on something else is not seen while that is invisible: at rest its values are of no matter.
GROUNDS = {"knob.disc": "switchLayer.alpha", "knobIcon.alpha": "switchLayer.alpha", "knob.shadowOpacity": "switchLayer.alpha", "checkTick.strokeEnd": "checkMark.alpha",
           "checkMark.translateX": "checkMark.alpha"}


def differences(name: str, drawn: dict[int, dict[str, float]], whose: str) -> list[str]:
    """What a rendering draws unlike the dossier."""
    change = CHANGES[name]
    # The browser's end is a moment before the change is over, when its animations still are.
    end = change.duration - 0.1 if whose == "web" else change.duration
    return [f"{name}, {whose}: {key} is {values.get(key)} at {time} ms, the dossier has {worth:.3f}"
            for time, values in drawn.items() for key, worth in change.expected(min(time, end)).items()
            if values.get(GROUNDS.get(key)) != 0 and not abs(values.get(key, math.inf) - worth) <= TOLERANCE]


def mixed(one: str, other: str, part: float) -> str:
    pairs = [(int(one[at:at + 2], 16), int(other[at:at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)


def flown(part: float) -> tuple[float, float]:
    """The dot after a part of its path, in the square of 72."""
    (a, b, c), t = (((33, 36), (0, 72), (0, 36)), part * 2) if part < 0.5 else (((0, 36), (0, 0), (28.05, 36)), part * 2 - 1)
    return tuple((1 - t) ** 2 * a[i] + 2 * t * (1 - t) * b[i] + t * t * c[i] for i in (0, 1))  # type: ignore[return-value]


def drawing(values: dict[str, float], name: str, ink: str, width: float = 360, height: float = 72) -> str:
    """A pose as SVG, by the dossier's geometry."""
    v = REST | values
    old, now = LABELS[name]
    brand, neutral = "#0099ff", "#0082d9" if v["pill.brand"] > 0.5 else "#414141"
    ground = mixed(mixed("#222222", "#cccccc", v["pill.email"]), brand, v["pill.brand"])
    half, place = height / 2, lambda p: height / 2 + p * (width - height)

    def disc(center: float, side: float, scale: float, round_: float, color: str, alpha: float) -> str:
        r = side * scale / 2
        corner = r * round_
        path = (f"M{center - r + corner} {half - r}H{center}A{r} {r} 0 0 1 {center} {half + r}H{center - r + corner}"
                f"A{corner} {corner} 0 0 1 {center - r} {half + r - corner}V{half - r + corner}A{corner} {corner} 0 0 1 {center - r + corner} {half - r}Z")
        return f'<path d="{path}" fill="{color}" opacity="{alpha}"/>'

    color_of_text = ink if v["pill.brand"] > 0.5 else "#ffffff"
    text = lambda words, alpha, x=width / 2, size=22, color=color_of_text, anchor="middle": (  # noqa: E731
        f'<text x="{x}" y="{half + size / 3}" font-size="{size}" font-weight="700" text-anchor="{anchor}" fill="{color}" opacity="{alpha}">{words}</text>' if words else "")
    parts = [f'<rect width="{width}" height="{height}" rx="{half}" fill="{ground}"/>',
             f'<rect x="{(v["progress.fraction"] - 1) * width}" width="{width}" height="{height}" fill="{neutral}" opacity="{v["progress.alpha"]}"/>',
             text(old, v["labelOld.alpha"]), text(now, v["labelNew.alpha"]),
             text("ada@example.com", v["emailField.alpha"], 36, 18, "#333333", "start")]
    if v["checkMark.alpha"] > 0:
        x = width / 2 + v["checkMark.translateX"] * (width - height)
        length = 7 + 14
        parts.append(f'<g opacity="{v["checkMark.alpha"]}" transform="translate({x - 36} 0)" fill="none" stroke="{ink}" stroke-width="3" stroke-linecap="round">'
                     f'<circle cx="36" cy="36" r="{19.5 * v["checkRing.scale"]}" stroke-opacity=".32"/>'
                     + (f'<path d="M28.05 36 33 40.95 42.9 31.05" stroke-dasharray="{length * v["checkTick.strokeEnd"]} 99"/>' if v["checkTick.strokeEnd"] > 0 else "")
                     + (f'<circle cx="{flown(v["dot"])[0]}" cy="{flown(v["dot"])[1]}" r="1.5" fill="{ink}" stroke="none"/>' if 0 < v["dot"] < 1 else "") + "</g>")
    if v["switchLayer.alpha"] > 0:
        at = place(v["knob.position"])
        parts.append(f'<g opacity="{v["switchLayer.alpha"]}">{disc(at, 64, v["knob.scale"], v["knob.curvatureStart"], brand, v["knob.disc"])}'
                     f'<circle cx="{at}" cy="{half}" r="9" fill="none" stroke="#fff" stroke-width="5" opacity="{v["knobIcon.alpha"]}"/></g>')
    if v["choices.alpha"] > 0:
        parts.append(f'<g opacity="{v["choices.alpha"]}"><rect x="4" y="4" width="174" height="64" rx="32" fill="#414141"/><rect x="182" y="4" width="174" height="64" rx="32" fill="#fff"/>'
                     f'{text("Disconnect", 1, 91, 17)}{text("Keep", 1, 269, 17, "#222222")}</g>')
    if v["confirm.alpha"] > 0:
        at = place(v["confirm.position"])
        parts.append(disc(at, 72, v["confirm.scale"], v["confirm.curvatureStart"], brand, v["confirm.alpha"])
                     + f'<path d="M{at - 4} {half - 8} {at + 5} {half} {at - 4} {half + 8}z" opacity="{v["confirm.alpha"]}"/>')
    clip = f"clip-{id(values)}"
    return (f'<svg viewBox="0 0 {width} {height}" width="240" font-family="Avenir Next, Nunito Sans, Montserrat, DejaVu Sans, sans-serif"><clipPath id="{clip}">'
            f'<rect width="{width}" height="{height}" rx="{half}"/></clipPath><g clip-path="url(#{clip})">{"".join(parts)}</g></svg>')


def web(page: Page, server: Any, name: str) -> tuple[dict[int, dict[str, float]], dict[int, str]]:
    """The component's values and pictures at each time."""
    begin(page, server, name)
    values, pictures = {}, {}
    for time in TIMES[name]:
        seek(page, min(time, CHANGES[name].duration - 0.1))
        values[time] = pose(page)
        pictures[time] = base64.b64encode(page.locator("#one .pill").screenshot()).decode()
    return values, pictures


def strip(name: str, pictures: dict[int, str], poses: dict[int, dict[str, float]]) -> str:
    change = CHANGES[name]
    row = lambda title, cells: f"<tr><th>{title}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"  # noqa: E731
    chunks = [TIMES[name][at:at + 5] for at in range(0, len(TIMES[name]), 5)]
    table = "".join(
        row("", [f"{time} ms" for time in times])
        + row("web", [f'<img width="240" src="data:image/png;base64,{pictures[time]}">' for time in times])
        + row("SwiftUI", [drawing(poses[time], name, "#000000") for time in times])
        + row("dossier", [drawing(change.picture(min(time, change.duration - 0.1)), name, "#ffffff") for time in times])
        for times in chunks)
    return (f"<!doctype html><meta charset=utf-8><title>{TITLES[name]}</title><style>body{{font:13px system-ui,sans-serif;margin:12px;width:max-content}}"
            f"th{{text-align:start;padding-inline-end:10px;font-weight:600}}td{{padding:3px;text-align:center;color:#444}}img,svg{{display:block}}</style><table>{table}</table>")


def main(poses_file: str, folder: str) -> int:
    poses = {name: {int(time): {CHANNELS[channel]: worth * STRONGEST.get(channel, 1) for channel, worth in each.items()} for time, each in strips.items()}
             for name, strips in json.loads(Path(poses_file).read_text()).items()}
    wrong: list[str] = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("HANDSHAKE_CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        for name in TIMES:
            context = browser.new_context(viewport={"width": 400, "height": 300}, device_scale_factor=2)
            context.add_init_script(HOLDING)
            values, pictures = web(context.new_page(), server, name)
            shown = {time: poses[name][time] for time in TIMES[name]}
            wrong += differences(name, values, "web") + differences(name, shown, "SwiftUI")
            sheet = browser.new_page(viewport={"width": 1400, "height": 300})
            sheet.set_content(strip(name, pictures, shown))
            sheet.locator("table").screenshot(path=Path(folder) / f"{TITLES[name]}.png")
            server.reset()
            context.close()
        browser.close()
    print("\n".join(wrong) or f"{len(TIMES)} strips in {folder}: web, SwiftUI and dossier agree within {TOLERANCE}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
