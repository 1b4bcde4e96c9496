"""`load`: any model with `trace` and the methods of `HeadStudies`."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.heads.head_studies import HeadStudies
from explorer.model import opening
from explorer.model.explorable import ExplorableModel

if TYPE_CHECKING:
    from explorer.heads.studied_huggingface_model import StudiedHuggingFaceModel


class StudiedModel(HeadStudies, ExplorableModel):
    """A model trained here, with the methods of `HeadStudies`."""


def load(
    path: str | Path,
    name: str | None = None,
    *,
    dtype: str = "float32",
    device_map: str | Mapping[str, Any] | None = None,
    max_memory: Mapping[Any, Any] | None = None,
    offload_folder: str | Path | None = None,
) -> "StudiedModel | StudiedHuggingFaceModel":
    """The model in a checkpoint file, or in a directory with a `config.json`.

    name: in the facts of its traces; None = that of the file or directory.
    dtype: the numbers a directory's model computes with: "float32", "float16" or "bfloat16".
    device_map: for a directory's model that is larger than the memory, "auto" or module → device,
        as Accelerate has it.
    max_memory, offload_folder: with it, the most bytes on each device, of which the rest stays on
        disk; and where that is written which cannot be read from the model's own files.

    Raises `FileError`, `CheckpointError`, `ModelDirectoryError`.
    """
    model = opening.load(
        path,
        name,
        dtype=dtype,
        device_map=device_map,
        max_memory=max_memory,
        offload_folder=offload_folder,
    )
    if isinstance(model, ExplorableModel):
        return StudiedModel(model.checkpoint, model.name)
    # Imported late: it needs the library, which takes a second and need not be installed.
    from explorer.heads.studied_huggingface_model import StudiedHuggingFaceModel

    return StudiedHuggingFaceModel(
        **{field.name: getattr(model, field.name) for field in fields(model)}
    )
