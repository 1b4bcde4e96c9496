"""The cache of the hub, as the library lays it out."""

from pathlib import Path


def version(cache: Path, folder: str, *files: str) -> Path:
    """A version of a model in the cache, with empty files, which `main` is."""
    snapshot = cache / folder / "snapshots" / "22"
    snapshot.mkdir(parents=True)
    (cache / folder / "refs").mkdir()
    (cache / folder / "refs" / "main").write_text("22")
    for name in files:
        (snapshot / name).write_text("")
    return snapshot
