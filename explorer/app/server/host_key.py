"""The host's key, kept for a school day: a class that is started again on the same port has the key
of the class before, so the host's open page, whose cookie is derived from the key, leads on.

Each port has a file of its own that only its owner may open. A file that another account owns or
may open is not believed: its key may be known.
"""

import os
import re
import secrets
import sys
import time
from pathlib import Path

from explorer.core import folders
from explorer.core.errors import FileError
from explorer.core.files import opened, write_atomically
from explorer.core.i18n import say, terminal_language

LIFETIME = 12 * 3600.0
"""Seconds from the making of a key until a new start has a new one."""

SHORTEST = 12
"""Characters of a key."""

_KEY = re.compile(r"[A-Za-z0-9_-]{12}")


def kept(port: int, *, new: bool = False) -> str:
    """The key of the last class on this port, or a new one, which is then kept. Prints a sentence
    if it cannot be kept.

    new: whether it is a new one in any case.
    """
    try:
        path = folders.state() / f"class-{port:d}.key"
        if not new and (key := _found(path)):
            return key
        key = secrets.token_urlsafe(9)
        write_atomically(path, key.encode(), mode=0o600)
    except (FileError, RuntimeError) as error:  # RuntimeError: an account without a home folder
        key = secrets.token_urlsafe(9)
        print(say("classroom.key_not_kept", terminal_language(), reason=error), file=sys.stderr)
    return key


def _found(path: Path) -> str:
    """The key in a file, or "" if it is not there, too old or not believed."""
    try:
        with opened(path) as file:
            about = os.fstat(file.fileno())
            key = file.read(SHORTEST + 1).decode("ascii", "replace")
    except FileError:
        return ""
    is_new = 0 <= time.time() - about.st_mtime < LIFETIME
    return key if is_new and _is_private(about) and _KEY.fullmatch(key) else ""


def _is_private(about: os.stat_result) -> bool:
    """Whether a file is this account's alone. On Windows a folder below the account's own is."""
    return sys.platform == "win32" or (about.st_uid == os.geteuid() and not about.st_mode & 0o077)
