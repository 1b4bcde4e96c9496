"""The folders of files that ship and of files that are written.

Files that ship are inside the installed package, which may be read-only; in a source checkout the
checkpoints are beside it. Runs and head reports are written to the current folder, what is private
to an account to its home. Environment variables name other folders, and those with models of the
library transformers.
"""

import os
from pathlib import Path

CHECKPOINTS_VARIABLE = "EXPLORER_CHECKPOINTS"
"""Names the folder of the listed checkpoints and of the reports that belong to them."""

RUNS_VARIABLE = "EXPLORER_RUNS"
"""Names the folder of the training runs made here."""

REPORTS_VARIABLE = "EXPLORER_FINDINGS"
"""Names the folder of the head reports measured here."""

STATE_VARIABLE = "EXPLORER_STATE"
"""Names the private folder of what a server keeps until its next start."""

MODELS_VARIABLE = "EXPLORER_MODELS"
"""Environment variable with the folders searched for model directories, separated as in PATH."""

LESSONS_VARIABLE = "EXPLORER_LESSONS"
"""Environment variable with the folders of further lessons, separated as in PATH."""

LANGUAGES_VARIABLE = "EXPLORER_LANGUAGES"
"""Environment variable with the folders of further interface languages, separated as in PATH."""

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of the `explorer` package."""

IMPORT_ROOT = PACKAGE.parent
"""The current folder of a child process that runs `python -m explorer`."""

STRINGS = PACKAGE / "strings"
SHIPPED_LESSONS = PACKAGE / "lessons"
SHIPPED_LANGUAGES = PACKAGE / "languages"


def shipped_checkpoints() -> Path:
    """The folder of the checkpoints that ship: in a wheel inside the package, else beside it."""
    inside = PACKAGE / "checkpoints"
    return inside if inside.is_dir() else IMPORT_ROOT / "checkpoints"


def checkpoints() -> Path:
    """The folder of the listed checkpoints."""
    return _named(CHECKPOINTS_VARIABLE) or shipped_checkpoints()


def shipped_reports() -> Path:
    """The folder of the head reports and indexes that belong to the listed checkpoints."""
    return checkpoints() / "heads"


def shipped_runs() -> Path:
    """The folder of the runs that ship."""
    return shipped_checkpoints() / "recorded"


def runs() -> Path:
    """The folder of the runs made here."""
    return _named(RUNS_VARIABLE) or Path.cwd() / "runs"


def reports() -> Path:
    """The folder of the head reports measured here."""
    return _named(REPORTS_VARIABLE) or Path.cwd() / "findings"


def state() -> Path:
    """The folder of what a server keeps until its next start, the same from every current folder.
    Raises `RuntimeError` for an account without a home folder."""
    return _named(STATE_VARIABLE) or Path.home() / ".attention-explorer"


def models() -> tuple[Path, ...]:
    """The folders below which model directories are listed; none unless named at the start."""
    return _several(MODELS_VARIABLE)


def lessons() -> tuple[Path, ...]:
    """The folders with lessons: those that ship, then those named at the start."""
    return (SHIPPED_LESSONS, *_several(LESSONS_VARIABLE))


def language_files() -> tuple[Path, ...]:
    """The files of further languages: those that ship, then those in the folders named at the
    start. If two files are for one language, the later one counts."""
    places = (SHIPPED_LANGUAGES, *_several(LANGUAGES_VARIABLE))
    found = (path for place in places for path in sorted(place.glob("*.toml")))
    return tuple(path for path in found if path.is_file())


def _several(variable: str) -> tuple[Path, ...]:
    """The absolute paths in an environment variable."""
    named = os.environ.get(variable, "").split(os.pathsep)
    return tuple(Path(name).absolute() for name in named if name)


def _named(variable: str) -> Path | None:
    """The absolute path in an environment variable, or None if it is unset or empty."""
    name = os.environ.get(variable)
    return Path(name).absolute() if name else None
