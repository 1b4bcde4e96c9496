"""The models of the hub that everybody knows, which the app offers to fetch, and opens from the
cache of the hub. Nothing else of the cache is listed."""

from dataclasses import dataclass
from pathlib import Path

from explorer.model.huggingface.opening import hub


@dataclass(frozen=True, slots=True)
class KnownModel:
    """name: on the hub. title: what people call it. bytes: of its files that are read here.
    owned: its name with its owner, by which it may be in the cache, too.
    """

    name: str
    title: str
    bytes: int
    owned: str

    @property
    def size(self) -> str:
        """ "550 MB", rounded to ten."""
        return f"{round(self.bytes / 1e6, -1):.0f} MB"

    @property
    def snapshot(self) -> Path | None:
        """Its files in the cache of the hub; None unless all are there."""
        found = (hub.whole(name) for name in dict.fromkeys((self.name, self.owned)))
        return next(filter(None, found), None)

    @property
    def share(self) -> float:
        """The share of its bytes in the cache, 0 to 1, of a fetch that has not ended."""
        return min(hub.fetched_bytes(self.name) / self.bytes, 1.0)


_MINI = "sentence-transformers/all-MiniLM-L6-v2"

KNOWN_MODELS = {
    model.name: model
    for model in (
        KnownModel("gpt2", "GPT-2 small", 550_960_000, "openai-community/gpt2"),
        KnownModel(_MINI, "all-MiniLM-L6-v2", 91_600_000, _MINI),
    )
}
"""By name, in the order of the list."""
