"""Reads `#if` conditions as a compiler for another platform reads them."""

import re
from dataclasses import dataclass
from pathlib import Path

TRAITS = {"AsyncHTTPClient", "Server", "Sandbox", "Desktop", "CommandLine", "SQLite", "PostgreSQL"}
SHARED = {"Darwin", "Security", "AuthenticationServices", "SwiftUI", "Accessibility", "Network", "CoreBluetooth", "CoreLocation", "QuartzCore", "AVFoundation", "UserNotifications"}
ELSEWHERE = {"Glibc", "Musl", "FoundationEssentials"}
KNOWN = SHARED | ELSEWHERE | {"AppKit", "UIKit"}

DIRECTIVE = re.compile(r"^\s*#(if|elseif|else|endif)\b(.*)$")
TERM = re.compile(r"(os|canImport|compiler|swift|hasFeature)\(([^)]*)\)|(\w+)")


@dataclass(frozen=True)
class Platform:
    name: str
    modules: frozenset[str]
    traits: frozenset[str]

    def holds(self, condition: str) -> bool:
        def value(match: re.Match) -> str:
            function, argument, name = match.groups()
            match function:
                case "os":
                    return str(argument == self.name)
                case "canImport" if argument in KNOWN:
                    return str(argument in self.modules)
                case None if name in TRAITS:
                    return str(name in self.traits)
                case None if name in ("DEBUG", "true"):
                    return "True"
            raise ValueError(f"unknown condition: {match.group()}")

        python = TERM.sub(value, condition.split("//")[0]).replace("&&", " and ").replace("||", " or ").replace("!", " not ")
        return bool(eval(python, {"__builtins__": {}}))


EVERYTHING = frozenset(TRAITS - {"SQLite", "PostgreSQL"})
NOTHING = frozenset()
MACOS = Platform("macOS", frozenset(SHARED | {"AppKit"}), EVERYTHING)
IOS = Platform("iOS", frozenset(SHARED | {"UIKit", "MapKit", "Vision", "VisionKit", "SafariServices", "CoreImage"}), NOTHING)
WATCHOS = Platform("watchOS", frozenset(SHARED | {"UIKit"}), NOTHING)
APPLE = [MACOS, IOS, WATCHOS]
# What `swift build` and `Tests/Consumers` compile.
LINUX = [Platform("Linux", frozenset({"Glibc", "FoundationEssentials"}), traits) for traits in (EVERYTHING, NOTHING, frozenset(TRAITS))]
# No check here: Musl has the names of Glibc.
MUSL = [Platform("Linux", frozenset({"Musl", "FoundationEssentials"}), frozenset(TRAITS))]


def selected(text: str, platform: Platform) -> str:
    """The text with each condition replaced by its value on a platform. Lines keep their numbers."""

    def line(match: re.Match) -> str:
        kind, condition = match.groups()
        return f"#{kind} {str(platform.holds(condition)).lower()}" if kind in ("if", "elseif") else match.group()

    return "\n".join(DIRECTIVE.sub(line, each) for each in text.split("\n"))


def unchecked(path: Path, platforms: list[Platform]) -> list[str]:
    """The branches that no platform compiles."""
    live: dict[int, bool] = {}
    for platform in platforms:
        stack: list[list[bool]] = []  # whether the chain is reached, has been decided, and is in its branch
        for number, text in enumerate(path.read_text().split("\n"), 1):
            if not (match := DIRECTIVE.match(text)):
                continue
            kind, condition = match.groups()
            if kind == "endif":
                stack.pop()
                continue
            if kind == "if":
                stack.append([all(each[2] for each in stack), False, False])
            reached, decided, _ = stack[-1]
            holds = reached and not decided and (kind == "else" or platform.holds(condition))
            stack[-1][1:] = [decided or holds, holds]
            live[number] = live.get(number, False) or holds
    lines = path.read_text().split("\n")
    return [f"{path}:{number}: {lines[number - 1].strip()}" for number, holds in live.items() if not holds]
