"""Kind and base model of an adapter, read from its directory without the library."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from explorer.core.errors import ModelDirectoryError
from explorer.core.files import printable
from explorer.model.huggingface import hub_cache
from explorer.model.huggingface.directory_files import CONFIG, weights_among
from explorer.model.huggingface.other_contents import ADAPTER, described_adapter

WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
"""Safetensors come before pickles."""

_TASKS = ("CAUSAL_LM", "SEQ_2_SEQ_LM", "FEATURE_EXTRACTION", "None")
"""Tasks for which peft trains the model as its own config describes it."""


@dataclass(frozen=True)
class Adapter:
    """An adapter in a directory.

    kind: LoRA, or another kind as the file names it. base: the base model, as the file names it.
    """

    path: Path
    kind: str
    task: str
    base: str

    @classmethod
    def within(cls, path: Path) -> "Adapter | None":
        """The adapter in a directory, or None if there is none or also a whole model."""
        names = [file.name for file in path.iterdir()] if path.is_dir() else []
        if ADAPTER not in names or (CONFIG in names and weights_among(names)):
            return None
        described = described_adapter(path)
        told = [str(described.get(name))[:20] for name in ("peft_type", "task_type")]
        base = str(described.get("base_model_name_or_path") or "")
        return cls(path, told[0].replace("LORA", "LoRA").replace("None", "PEFT"), told[1], base)

    @property
    def weights(self) -> Path | None:
        """Path of its weights, or None if the file is missing."""
        return next((self.path / name for name in WEIGHTS if (self.path / name).exists()), None)

    def base_directory(self) -> Path | None:
        """Directory of the base model: its path, beside the adapter, or in the cache of the hub.

        None if it is not on this computer.
        """
        if not self.base or printable(self.base) != self.base:
            return None
        found = (hub_cache.snapshot(place) or place for place in self._places())
        there = (place for place in found if (place / CONFIG).is_file())
        name = hub_cache.hub_name(Path(self.base))
        return next(there, None) or (None if name is None else hub_cache.cached(name))

    def refuse(self) -> None:
        """Raise `ModelDirectoryError` if the adapter cannot be merged into a base model."""
        named = {"name": self.path.name, "kind": self.kind, "base": self.base or "?"}
        if self.kind != "LoRA":
            raise ModelDirectoryError("other_adapter", **named)
        if self.task not in _TASKS:
            raise ModelDirectoryError("adapter_task", task=self.task, **named)
        if self.weights is None:
            raise ModelDirectoryError("no_adapter_weights", **named)

    def _places(self) -> Iterator[Path]:
        last = Path(self.base).name
        whole = self.base.replace("/", "--")
        beside = self.path.absolute().parent
        yield Path(self.base)
        yield from (beside / name for name in (last, whole) if last)
        if beside.name == "snapshots":  # in a cache of the hub
            yield beside.parents[1] / f"{hub_cache.FOLDER}{whole}"
