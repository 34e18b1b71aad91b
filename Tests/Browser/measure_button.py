"""Measures `<connect-button>`: its size, its first paint, and the frames while a finger drags the knob, towards verifying and towards the email field
(MO29). Prints; asserts nothing.

    python measure_button.py [SECONDS]
"""

import gzip
import os
import shutil
import sys

from playwright.sync_api import Page, sync_playwright

from button_page import MINIFIED, SCRIPT, ButtonServer, serving

FRAMES = """() => { window.frames_seen = []; let last = null
  const step = now => { if (last !== null) frames_seen.push(now - last); last = now; requestAnimationFrame(step) }
  requestAnimationFrame(step) }"""


def drag(page: Page, server: ButtonServer, towards: str, seconds: float) -> None:
    """Leads the knob to and fro, and prints the frames."""
    server.reset()
    server.shows(server.script().answer("connect", following=towards))
    page.goto(server.url())
    page.locator("#one .pill[data-step=connect]").wait_for()
    if towards == "verifying":
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first contentful paint: {paint:.0f} ms")
    box = page.locator("#one .pill").bounding_box()
    y, debugger = box["y"] + 35, page.context.new_cdp_session(page)
    debugger.send("Performance.enable")

    def totals() -> dict[str, float]:
        return {metric["name"]: metric["value"] for metric in debugger.send("Performance.getMetrics")["metrics"]}

    page.mouse.move(box["x"] + 35, y)
    page.mouse.down()
    page.evaluate(FRAMES)
    before = totals()
    moves = int(seconds * 120)
    for at in range(moves):
        part = 0.5 + 0.4 * (1 if (at // 40) % 2 else -1) * (at % 40 / 40 - 0.5) * 2
        page.mouse.move(box["x"] + part * box["width"], y)
    after = totals()
    gaps = sorted(page.evaluate("frames_seen"))
    page.mouse.up()
    frames = len(gaps)
    work = {name: (after[name] - before[name]) * 1000 / frames for name in ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "TaskDuration")}
    print(f"dragging towards {towards}, {moves} moves: {frames} frames, {1000 * frames / sum(gaps):.1f} a second, median {gaps[frames // 2]:.1f} ms, "
          f"99th percentile {gaps[int(frames * 0.99)]:.1f} ms, {sum(gap > 25 for gap in gaps)} later than 25 ms")
    print("work a frame: " + ", ".join(f"{name.removesuffix('Duration').lower()} {value:.2f} ms" for name, value in work.items()))


def main(seconds: float) -> None:
    source = SCRIPT.read_bytes()
    print(f"size: {len(source):,} bytes as written, {len(gzip.compress(source, 9)):,} gzipped, "
          f"{len(gzip.compress(MINIFIED.read_bytes(), 9)):,} minified and gzipped")
    with serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("HANDSHAKE_CHROMIUM") or shutil.which("chromium"))
        page = browser.new_page(viewport={"width": 400, "height": 700})
        for towards in ("verifying", "email"):
            drag(page, server, towards, seconds)
        browser.close()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 5)
