"""`load`, `wrap` and `import_state_dict`: a model with `trace` and the methods of `HeadStudies`."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.components.live.page import LiveModel, file_page
from explorer.core.errors import ConfigError, ModelDirectoryError, RemovedError
from explorer.core.files import as_path, replace_atomically
from explorer.core.look import MOST_PADDING
from explorer.core.vocabulary import valid_text
from explorer.model import opening
from explorer.model.checkpoint import save_checkpoint, to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.model.foreign_state_dict import Tokens, from_foreign_state_dict
from explorer.model.huggingface.opening import hub
from explorer.model.listed_model import ListedModel
from explorer.public.head_studies import HeadStudies

if TYPE_CHECKING:
    from explorer.public.studied_huggingface_model import StudiedHuggingFaceModel


_REMOVED = ("device_map", "max_memory", "offload_folder")
"""Keywords of `load` in earlier versions."""


class StudiedModel(HeadStudies, ExplorableModel):
    """A model trained here, with the methods of `HeadStudies`."""

    def save(self, path: str | Path) -> None:
        """Write the checkpoint, one file that `load` and the app open. Raises `FileError`."""
        save_checkpoint(self.checkpoint, as_path(path))

    def to_html(self, path: str | Path, text: str | None = None, *, pad: int = 0) -> None:
        """Write one file with this model, on which the browser itself decodes whatever is typed.

        >>> model = explorer.load("checkpoints/reverse.safetensors")
        >>> model.to_html("reverse-live.html", text="7 3 9")

        text: the initial text; None = an example of the model. pad: padding tokens added to it.

        Raises `VocabularyError` on a text that cannot be read or is too long, `ConfigError` on a
        padding that the page does not have, and `FileError` when the file cannot be written.
        """
        if text is not None:
            self.check_text(text, "source")
        whole = isinstance(pad, int) and not isinstance(pad, bool)
        if not whole or not 0 <= pad <= MOST_PADDING:
            raise ConfigError("bad_size", name="pad", got=repr(pad), least=0, most=MOST_PADDING)
        listed = ListedModel(self.name, "", self.checkpoint.summary)
        live = LiveModel(listed, to_bytes(self.checkpoint, half=True))
        shown = None if text is None else valid_text(text)
        replace_atomically(as_path(path), file_page(live, shown, pad).encode())


def load(
    path: str | Path,
    name: str | None = None,
    *,
    dtype: str = "float32",
    download: bool = False,
    **removed: object,
) -> "StudiedModel | StudiedHuggingFaceModel":
    """The model in a checkpoint file, or in a directory with a `config.json`.

    path: or, if there is no such file, the name of a model that ships, such as "reverse", or of one
        in the cache of the hub, such as "openai-community/gpt2".
    name: in the facts of its traces; None = that of the file or directory.
    dtype: the numbers a directory's model computes with, whatever its files have: "float32",
        "float16" or "bfloat16".
    download: fetch a model of the hub, or what is new of one in the cache; nothing is fetched
        otherwise.
    removed: keywords of earlier versions, for which `RemovedError` says what remains.

    Raises `FileError`, `CheckpointError`, `ModelDirectoryError`.
    """
    for keyword in removed:
        if keyword in _REMOVED:
            raise RemovedError("placement", keyword=keyword)
        raise TypeError(f"load() got an unexpected keyword argument {keyword!r}")
    model = opening.load(path, name, dtype=dtype, download=download)
    if isinstance(model, ExplorableModel):
        return StudiedModel(model.checkpoint, model.name)
    return _studied(model)


def wrap(
    model: Any, tokenizer: Any = None, name: str | None = None, *, copy: bool = True
) -> "StudiedHuggingFaceModel":
    """A model of the library transformers that is in memory, as `load` gives one in a directory.

    >>> model = explorer.wrap(fine_tuned, tokenizer)
    >>> trace = model.trace("The cat sat.")

    model: of any class with text as its input that `load` opens; wrappers of torch.compile,
        DataParallel or peft are removed. Adapters such as LoRA count as they are set.
    tokenizer: the library's; None = texts are ids, separated by spaces.
    name: in the facts of its traces; None = the name under which the library loaded it.
    copy: False = wrap the given model itself, which then stays in eval mode with its adapters
        merged; for one that is large, on a GPU, or partly on disk by a `device_map`.

    A copy is wrapped, in eval mode: the given model is not touched, and the memory holds the
    weights twice. Later training, moves or additions take effect once it is wrapped again. The
    checks are those of `load`, and traces equal those of the saved model opened by it: to the bit
    where the weights lie alike in memory, else to rounding, 2e-6.

    Raises `ModelDirectoryError`.
    """
    if not hub.has_library():
        raise ModelDirectoryError("wrap_not_installed", command=hub.EXTRA)
    from explorer.model.huggingface.opening.wrapping import wrapped

    return _studied(wrapped(model, tokenizer, name, copied=copy))


def import_state_dict(
    weights: str | Path | Mapping[str, Any],
    layout: str,
    *,
    heads: int | None = None,
    specials: Sequence[int] | None = None,
    vocabulary: Tokens | None = None,
    target_vocabulary: Tokens | None = None,
    max_length: int = 256,
    norm_eps: float | None = None,
    name: str | None = None,
) -> StudiedModel:
    """A Transformer that a tutorial's own class trained, from its state dict, as a model of ours.

    >>> model = explorer.import_state_dict("my.pt", "annotated", heads=8, specials=(2, 0, 1))
    >>> model.save("my.safetensors")

    weights: `model.state_dict()`, which is copied, or a file with it, of torch.save or safetensors.
        The prefixes of DataParallel and torch.compile, and a dictionary with the weights beside
        other values, are unpacked.
    layout: "annotated", The Annotated Transformer; "w_q", the class with `encoder_layers`, W_q and
        fc1; "d2l", that of Dive into Deep Learning. All have ReLU and sines as positions.
    heads: the number in each layer. specials: the ids of padding, start and end of a sequence.
        Neither is in the file.
    vocabulary, target_vocabulary: the token of each id, special ones included: a list, a mapping to
        ids, or a file with one a line; None = the ids themselves, and those of the source. One that
        is no symbol (over 16 letters, white space) is cut, with its id: "internat…523".
    max_length: tokens on either side.
    norm_eps: of its LayerNorm; None = that of the tutorial.
    name: in the facts of its traces; None = that of the file, or "state_dict".

    Padding, start and end get our first three ids, so others may move; a source ends with the end
    of a sequence, and begins with the start only where that is typed. Logits are those of the class
    to rounding, 1e-5.

    Raises `FileError`, and `CheckpointError` on weights that do not fit our Transformer.
    """
    theirs = as_path(weights) if isinstance(weights, str | PathLike) else weights
    checkpoint = from_foreign_state_dict(
        theirs,
        layout,
        heads=heads,
        specials=specials,
        vocabulary=vocabulary,
        target_vocabulary=target_vocabulary,
        max_length=max_length,
        norm_eps=norm_eps,
    )
    own_name = theirs.stem if isinstance(theirs, Path) else "state_dict"
    return StudiedModel(checkpoint, own_name if name is None else name)


def _studied(model: Any) -> "StudiedHuggingFaceModel":
    # Imported late: it needs the library, which takes a second and need not be installed.
    from explorer.public.studied_huggingface_model import StudiedHuggingFaceModel

    return StudiedHuggingFaceModel(
        **{field.name: getattr(model, field.name) for field in fields(model)}
    )
