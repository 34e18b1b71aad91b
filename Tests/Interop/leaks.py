"""Looks for secrets where they must not be."""

import base64
from collections.abc import Iterable
from pathlib import Path


def spellings(secret: str | bytes) -> set[bytes]:
    """The ways in which a secret would lie in a file by carelessness: as it is, in hexadecimal, in base64."""
    raw = secret if isinstance(secret, bytes) else secret.encode()
    # Base64 depends on where the secret starts in what is encoded: all three alignments, without the two ends that the
    # neighbours colour.
    encoded = {base64.b64encode(b"\0" * shift + raw)[4 if shift else 0:-4] for shift in range(3)}
    return {raw, raw.hex().encode()} | {e for e in encoded if len(e) > 12} | {
        e.replace(b"+", b"-").replace(b"/", b"_") for e in encoded if len(e) > 12}


def found_in(data: bytes, secrets: Iterable[str]) -> list[str]:
    """What kind of secret is there: named by its first characters only, for this text is printed too."""
    return [f"{secret[:4]}… ({len(secret)} characters)" for secret in secrets
            if len(secret) >= 8 and any(spelling in data for spelling in spellings(secret))]


def found_in_folder(folder: Path, secrets: Iterable[str]) -> list[str]:
    secrets = list(secrets)
    return [f"{file.relative_to(folder)}: {hit}" for file in sorted(folder.rglob("*")) if file.is_file()
            for hit in found_in(file.read_bytes(), secrets)]


def traces(folder: Path, *texts: bytes) -> list[tuple[Path, bytes]]:
    """The files that have one of these texts or the first bytes of a photo in them."""
    # Three bytes of a JPEG are in some sealed record by chance: the fourth says what follows.
    portraits = (b"\x89PNG\r\n", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xe1", b"\xff\xd8\xff\xdb", b"GIF8")
    return [(file, text) for file in folder.rglob("*") if file.is_file()
            for text in (*texts, *portraits) if text in file.read_bytes()]
