"""`load`: any model with `trace` and the methods of `HeadStudies`."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.core.errors import ConfigError
from explorer.core.files import as_path, replace_atomically
from explorer.core.json_values import valid_text
from explorer.heads.head_studies import HeadStudies
from explorer.model import opening
from explorer.model.catalog import CatalogModel
from explorer.model.checkpoint import to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.model.model_summary import ModelSummary

if TYPE_CHECKING:
    from explorer.heads.studied_huggingface_model import StudiedHuggingFaceModel


class StudiedModel(HeadStudies, ExplorableModel):
    """A model trained here, with the methods of `HeadStudies`."""

    def to_html(self, path: str | Path, text: str | None = None, *, pad: int = 0) -> None:
        """Write one file with this model, on which the browser itself decodes whatever is typed.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.to_html("reverse-live.html", text="7 3 9")

        text: that it opens with; None = an example of the model. pad: padding tokens added to it.

        Raises `VocabularyError` on a text that cannot be read or is too long, `ConfigError` on a
        padding that the page does not have, and `FileError` when the file cannot be written.
        """
        # Imported of a higher layer, as by `Trace.to_html`, so that one call writes the page.
        from explorer.components.live.page import MOST_PADDING, LiveModel, file_page

        if text is not None:
            self.check_text(text, "source")
        whole = isinstance(pad, int) and not isinstance(pad, bool)
        if not whole or not 0 <= pad <= MOST_PADDING:
            raise ConfigError("bad_size", name="pad", got=repr(pad), least=0, most=MOST_PADDING)
        symbols = getattr(self.source_vocabulary, "symbols", ())
        summary = ModelSummary.of(asdict(self.transformer.config), symbols, self.facts)
        live = LiveModel(CatalogModel(self.name, "", summary), to_bytes(self.checkpoint, half=True))
        shown = None if text is None else valid_text(text)
        replace_atomically(as_path(path), file_page(live, shown, pad).encode())


def load(
    path: str | Path,
    name: str | None = None,
    *,
    dtype: str = "float32",
    device_map: str | Mapping[str, Any] | None = None,
    max_memory: Mapping[Any, Any] | None = None,
    offload_folder: str | Path | None = None,
    download: bool = False,
) -> "StudiedModel | StudiedHuggingFaceModel":
    """The model in a checkpoint file, or in a directory with a `config.json`.

    path: or where there is no such file, the name of a model that ships, such as "reverse", or of
        one in the cache of the hub, such as "openai-community/gpt2".
    name: in the facts of its traces; None = that of the file or directory.
    dtype: the numbers a directory's model computes with: "float32", "float16" or "bfloat16".
    device_map: for a directory's model that is larger than the memory, "auto" or module → device,
        as Accelerate has it.
    max_memory, offload_folder: with it, the most bytes on each device, of which the rest stays on
        disk; and where that is written which cannot be read from the model's own files.
    download: fetch a model that is not in the cache of the hub; nothing is fetched otherwise.

    Raises `FileError`, `CheckpointError`, `ModelDirectoryError`.
    """
    model = opening.load(
        path,
        name,
        dtype=dtype,
        device_map=device_map,
        max_memory=max_memory,
        offload_folder=offload_folder,
        download=download,
    )
    if isinstance(model, ExplorableModel):
        return StudiedModel(model.checkpoint, model.name)
    # Imported late: it needs the library, which takes a second and need not be installed.
    from explorer.heads.studied_huggingface_model import StudiedHuggingFaceModel

    return StudiedHuggingFaceModel(
        **{field.name: getattr(model, field.name) for field in fields(model)}
    )
