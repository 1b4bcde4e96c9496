"""Two moments of a run, as an address names them: "recorded/reverse@50-1000"."""

import re
from dataclasses import dataclass
from typing import Self

_PAIR = re.compile(r"((?:runs|recorded)/[^@]{1,80})@([0-9]{1,9})-([0-9]{1,9})", re.ASCII)


@dataclass(frozen=True, slots=True)
class MomentPair:
    """run: root and name, "runs/reverse-3". first, second: the steps of the moments."""

    run: str
    first: int
    second: int

    @classmethod
    def parse(cls, word: str) -> Self | None:
        """The pair that `str` wrote, or None if `word` is not one.

        Does not check that the run and its moments exist.
        """
        match = _PAIR.fullmatch(word)
        return cls(match[1], int(match[2]), int(match[3])) if match else None

    def __str__(self) -> str:
        return f"{self.run}@{self.first}-{self.second}"
