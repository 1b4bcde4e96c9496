"""A part of a map, as addresses and questions about a trace name it: "512-639.0-127"."""

import re
from typing import Annotated, NamedTuple, Self

from msgspec import Meta

_Position = Annotated[int, Meta(ge=0, lt=2**31)]
_WORD = re.compile(r"([0-9]{1,4})-([0-9]{1,4})\.([0-9]{1,4})-([0-9]{1,4})", re.ASCII)


class Zoom(NamedTuple):
    """The first and the last query, the first and the last key that are shown, from 0."""

    first_query: _Position
    last_query: _Position
    first_key: _Position
    last_key: _Position

    @classmethod
    def parse(cls, word: str) -> Self | None:
        """The part that `str` wrote, or None if `word` is not one."""
        match = _WORD.fullmatch(word)
        zoom = cls(*map(int, match.groups())) if match else None
        in_order = zoom and zoom.first_query <= zoom.last_query and zoom.first_key <= zoom.last_key
        return zoom if in_order else None

    def is_within(self, queries: int, keys: int) -> bool:
        """Whether a map of this size has the part."""
        return self.last_query < queries and self.last_key < keys

    @property
    def queries(self) -> slice:
        return slice(self.first_query, self.last_query + 1)

    @property
    def keys(self) -> slice:
        return slice(self.first_key, self.last_key + 1)

    def __str__(self) -> str:
        return f"{self.first_query}-{self.last_query}.{self.first_key}-{self.last_key}"
