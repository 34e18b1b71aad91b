"""Searches what a whole run printed for secrets. usage: scan_output.py FOLDER

Status 0 when nothing was found, 1 when something was, 2 when there was nothing to search. A finding is named by file, line
and kind; the secret itself is not repeated.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

KINDS = {
    "a planted secret": re.compile(r"canary-[0-9a-f]{32}"),
    "a JSON Web Token": re.compile(r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}"),
    "a token in JSON": re.compile(r"""\\?["'](?:access|refresh|id)_token\\?["']\s*:\s*\\?["'][^"'\\<\s]{8,}"""),
    "a token in a form": re.compile(r"\b(?:access_token|refresh_token|client_secret|code_verifier)=[A-Za-z0-9._~%+-]{16,}"),
    "a bearer token": re.compile(r"\bauthorization: (?:bearer|basic) [A-Za-z0-9._~+/=-]{12,}", re.I),
}

# swift-testing prints the arguments of a parameterised test before the code under test has seen them. The RFCs' own tokens
# stand there; a planted secret is looked for there too.
ARGUMENTS = re.compile(r"\S+ Test case passing \d+ arguments? ")


def findings(folder: Path) -> Iterator[str]:
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            for kind, pattern in list(KINDS.items())[: 1 if ARGUMENTS.match(line) else None]:
                if match := pattern.search(line):
                    place = f"{file.relative_to(folder)}:{number}:{match.start() + 1}"
                    yield f"{place}: {kind}, {len(match[0])} characters"


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0])
    files = [p for p in folder.rglob("*") if p.is_file() and p.stat().st_size] if folder.is_dir() else []
    if not files:
        print(f"nothing to search in {folder}")
        return 2
    found = list(findings(folder))
    print("\n".join(found) or f"no secret in {len(files)} files, {sum(p.stat().st_size for p in files)} bytes")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
