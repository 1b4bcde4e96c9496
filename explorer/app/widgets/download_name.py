"""The names of the files that the sections of Heads offer."""

import re

_LONGEST = 100  # characters; file systems take 255 bytes


def download_name(*parts: object) -> str:
    """The parts joined by hyphens, using only letters, digits, dots and hyphens, which every system
    allows in a file name."""
    joined = "-".join(str(part) for part in parts)
    return re.sub(r"[^\w.]+", "-", joined)[:_LONGEST].strip("-.")
