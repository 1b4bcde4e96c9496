"""Texts to continue, from the lines or one column of a file.

The held-out parts are chosen by a hash of the normalised text, as those of a parallel corpus are.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from explorer.core.errors import PairsError
from explorer.core.vocabulary import shorten
from explorer.data.parallel_corpus import (
    HELD_OUT_FROM,
    Part,
    held_out_parts,
    normalised,
    read_sources,
)


@dataclass(frozen=True)
class TextCorpus:
    """The distinct texts of a file.

    rows: texts in the file, repeated ones included.
    digest: SHA-256 of the distinct texts, by which a resumed training checks that they are the
        same.
    """

    texts: tuple[str, ...]
    rows: int
    digest: str

    @cached_property
    def _parts(self) -> dict[str, Part]:
        return held_out_parts(self.texts)

    def part(self, name: Part) -> tuple[str, ...]:
        """The texts of one part."""
        return tuple(
            text for text in self.texts if self._parts.get(normalised(text), "training") == name
        )


def read_corpus(path: str | Path, column: str = "1") -> TextCorpus:
    """The texts in a file, see `read_sources`.

    Raises `FileError`, and `PairsError` on a file with fewer than `HELD_OUT_FROM` different texts.
    """
    found = read_sources(path, column)
    texts = tuple(dict.fromkeys(found))
    corpus = TextCorpus(texts, len(found), sha256("\n".join(texts).encode()).hexdigest())
    if not corpus.part("dev"):
        name = shorten(Path(path).name)
        raise PairsError("too_few_texts", name=name, got=len(texts), least=HELD_OUT_FROM)
    return corpus


def beginning(text: str) -> tuple[str, str]:
    """A text cut after a third of its words, or of its characters if it has no spaces; at least
    one is on each side unless there is only one."""
    separator = " " if " " in text else ""
    words = text.split(separator) if separator else list(text)
    count = max(1, len(words) // 3)
    return separator.join(words[:count]), separator.join(words[count:])
