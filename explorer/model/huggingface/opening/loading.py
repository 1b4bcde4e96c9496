"""Open a directory as a model, by the library itself.

Nothing is fetched, no code from the directory runs, and no weight is made up: a model whose files
lack weights is refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn import ModuleList
from transformers.modeling_utils import load_state_dict
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

from explorer.core.errors import ModelDirectoryError
from explorer.core.memory import free_memory
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.capture.returned_weights import notes_of
from explorer.model.huggingface.capture.verification import examine
from explorer.model.huggingface.library_errors import reported
from explorer.model.huggingface.opening.config_bounds import refuse_beyond
from explorer.model.huggingface.opening.directory_files import (
    other_format,
    read_config,
    weight_files,
)
from explorer.model.huggingface.opening.hub import model_name
from explorer.model.huggingface.opening.tokenizer_fit import fitting
from explorer.model.huggingface.tokens import Tokens
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.model.wrapped_names import WRAPPERS

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}

_LOCAL = {"local_files_only": True, "trust_remote_code": False}  # unset, the latter asks on stdin
_SHOWN = 6  # names in a message
_POOLER = "pooler."  # of a body alone; nothing shown here depends on it


def open_directory(path: Path, name: str | None = None, dtype: str = "float32") -> HuggingFaceModel:
    """The model in a directory that the library wrote, checked and ready to trace.

    name: in the facts of its traces; None = the name of the directory or, for a snapshot of the
        hub, of its model.
    dtype: "float32", "float16" or "bfloat16".

    Raises `ModelDirectoryError`, and `FileError` if the system denies reading a file.
    """
    if dtype not in DTYPES:
        raise ModelDirectoryError("bad_dtype", dtype=dtype, known=", ".join(DTYPES))
    shown = model_name(path) if name is None else name
    try:
        described, files = read_config(path), weight_files(path)
        refuse_beyond(described, path.name)
        config = _config(path, described, files[0])
        _refuse_large(path, files, config, DTYPES[dtype])
        model, notes = _model(path, config, DTYPES[dtype])
        kind = kind_of(type(model), config)
        tokenizer, doubts = _tokenizer(path, described, model)
        return assembled(shown, model, kind, tokenizer, [*notes, *doubts])
    except ModelDirectoryError as error:
        raise error.of(shown) from error


def assembled(
    name: str, model: Any, kind: Kind, tokenizer: Any, notes: Iterable[ModelDirectoryError]
) -> HuggingFaceModel:
    """A checked model from one in memory, in eval mode; its attention is captured from then on.

    tokenizer: None = texts are lists of ids. notes: shown to readers of the model.
    """
    size, positions = embeddings(model), _positions(model)
    anatomy = examine(model, kind, size, positions)
    known = [*notes_of(anatomy, model), *notes]
    return HuggingFaceModel(
        name=name,
        model=model,
        anatomy=anatomy,
        tokens=Tokens(tokenizer, size, name=name),
        positions=positions,
        notes=tuple(note.of(name) if "name" in note.facts else note for note in known),
    )


def embeddings(model: Any) -> int:
    """Number of ids that have embeddings. Raises `ModelDirectoryError`."""
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError) as error:
        family = str(model.config.model_type)
        tower = f"{type(model).__name__.removesuffix('Model')}TextModel"  # as CLIPTextModel
        if hasattr(transformers, tower):
            raise ModelDirectoryError("text_tower", family=family, text_class=tower) from error
        raise ModelDirectoryError("no_embeddings", family=family) from error


def refuse_other_inputs(model_class: Any, config: Any) -> None:
    """Raise `ModelDirectoryError` for a class that does not read text."""
    if getattr(model_class, "main_input_name", "input_ids") != "input_ids":
        raise ModelDirectoryError("no_text", family=config.model_type)


def kind_of(model_class: Any, config: Any) -> Kind:
    """The stacks that models of a class have. Without a head for tokens, each stack reads the text.

    Raises `ModelDirectoryError`.
    """
    name, family = model_class.__name__, config.model_type
    if name.endswith("ForMultipleChoice"):
        raise ModelDirectoryError("several_texts", architecture=name)
    generates = bool(model_class.can_generate())
    both = "decoder_input_ids" in signature(model_class.forward).parameters
    if config.is_encoder_decoder and (generates or both):
        if not generates and name == MODEL_MAPPING_NAMES.get(family):
            raise ModelDirectoryError("no_head", architecture=name)
        return Kind.ENCODER_DECODER
    masked = family in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if generates or (family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and not masked):
        return Kind.DECODER_ONLY
    return Kind.ENCODER_ONLY


def _config(path: Path, described: Mapping[str, Any], weights: Path) -> Any:
    """The library's config. If it names no family, as before 2020, the names of the weights begin
    with that."""
    family = described.get("model_type")
    if "auto_map" in described and family not in transformers.CONFIG_MAPPING:
        raise ModelDirectoryError("own_code", family=str(family)[:80])
    with reported("library_refuses", name=path.name, version=transformers.__version__):
        kind: Any = transformers.AutoConfig
        if family is None:
            names = load_state_dict(str(weights), map_location="meta")
            first = {WRAPPERS.sub("", name).split(".")[0]: None for name in names}
            known = [one for one in first if one in transformers.CONFIG_MAPPING]
            kind = transformers.CONFIG_MAPPING[known[0]] if known else kind
        return kind.from_pretrained(str(path), **_LOCAL)


def _refuse_large(path: Path, files: Iterable[Path], config: Any, dtype: torch.dtype) -> None:
    """Raise `ModelDirectoryError` if the weights do not fit into free memory."""
    named = getattr(config, "dtype", None)  # the library keeps a malformed one as it is
    stored = named if isinstance(named, torch.dtype) else torch.float32
    needed = sum(file.stat().st_size for file in files) * dtype.itemsize / stored.itemsize
    free = free_memory()
    if needed > free:
        gigabytes = {"needed": f"{needed / 2**30:.1f}", "free": f"{free / 2**30:.1f}"}
        raise ModelDirectoryError("too_large", name=path.name, **gigabytes)


def _model(path: Path, config: Any, dtype: torch.dtype) -> tuple[Any, list[ModelDirectoryError]]:
    """The model of the first class that lacks no weights, and notes."""
    first, *plain = _class_names(config)
    model, absent, unused = _loaded(path, first, config, dtype)
    notes = []
    if absent and plain:
        body, lacking, more = _loaded(path, plain[0], config, dtype)
        if not lacking:
            model, absent, unused = body, [], more
            notes = [ModelDirectoryError("no_head_weights", model_class=plain[0])]
    if absent and hasattr(config, "auto_map"):
        raise ModelDirectoryError("own_code", family=config.model_type)
    if absent:
        raise other_format(path) or ModelDirectoryError("missing_weights", **_names(absent))
    after, inside = _of_layers(model, unused)
    if after:
        raise ModelDirectoryError("undescribed_layers", **_names(after))
    left = {"model_class": type(model).__name__, **_names(inside or unused)}
    if inside:
        raise ModelDirectoryError("unplaced_weights", **left)
    if unused:
        notes.append(ModelDirectoryError("unused_weights", **left))
    return model, notes


def _loaded(
    path: Path, name: str, config: Any, dtype: torch.dtype
) -> tuple[Any, Sequence[str], Sequence[str]]:
    """A model of the library's class `name`, the names of its weights that the files lack or have
    in another size, and the names in the files that it has no place for."""
    model_class: Any = getattr(transformers, name, None)
    if not hasattr(model_class, "can_generate"):
        raise ModelDirectoryError("unknown_architecture", architecture=name[:80])
    refuse_other_inputs(model_class, config)
    quantised = getattr(config, "quantization_config", None) is not None
    key = "quantised" if quantised else "library_refuses"
    with reported(key, name=path.name, version=transformers.__version__):
        model, told = model_class.from_pretrained(
            str(path),
            config=config,
            dtype=dtype,
            attn_implementation="eager",
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            key_mapping={WRAPPERS.pattern: ""},
            **_LOCAL,
        )
    if quantised:  # the library gives dequantised weights a type of their own
        model.to(dtype)
    absent = sorted({*told["missing_keys"], *(one[0] for one in told["mismatched_keys"])})
    if absent and all(weight.startswith(_POOLER) for weight in absent):
        model.pooler, absent = None, []
    return model.eval(), absent, sorted(told["unexpected_keys"])


def _of_layers(model: Any, unused: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names in `unused` of layers after the last one that `model` has, and of weights inside those
    that it has: either way the config is another model's.

    Masks and rotary frequencies, which old files hold, are no weights.
    """
    prefix = f"{model.base_model_prefix}."
    parts = {path.removeprefix(prefix): part for path, part in model.named_modules()}
    after, inside = [], []
    for name in unused:
        path, _, kind = name.removeprefix(prefix).rpartition(".")
        at = re.match(r"(.+?)\.(\d+)\.", f"{path}.")
        layers = parts.get(at[1]) if at else None
        if at is None or not isinstance(layers, ModuleList):
            continue
        owner = parts.get(path)
        masks = owner is not None and kind not in owner._parameters  # as attn.bias of GPT-J
        if int(at[2]) >= len(layers):
            after.append(name)
        elif kind == "weight" or (kind == "bias" and not masks):
            inside.append(name)
    return after, inside


def _class_names(config: Any) -> list[str]:
    """Names of the library's classes that may hold the weights: the one that the config names, and
    that without a head.

    If the config names none, or one without a head in a family whose head is the embeddings, the
    first is the family's class with a head.
    """
    family, both = config.model_type, config.is_encoder_decoder
    fills_masks = family in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not both
    heads = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if fills_masks:
        heads = MODEL_FOR_MASKED_LM_MAPPING_NAMES
    elif both:
        heads = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
    plain = MODEL_MAPPING_NAMES.get(family)
    named = next(iter(config.architectures or ()), None)
    if named is None or (named == plain and not fills_masks):
        named = heads.get(family)
    names = dict.fromkeys(one for one in (named, plain) if isinstance(one, str))
    return list(names) or [str(family)]


def _names(names: Sequence[str]) -> dict[str, object]:
    more = " …" if len(names) > _SHOWN else ""
    return {"count": len(names), "names": ", ".join(names[:_SHOWN]) + more}


def _positions(model: Any) -> int | None:
    """The most tokens that the model has positions for; None without a limit."""
    config = model.config.get_text_config()
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    for module in model.modules():
        table = getattr(module, "position_embeddings", None)
        offset = getattr(table, "padding_idx", None)
        if isinstance(offset, int) and getattr(table, "num_embeddings", None) == limit:
            return limit - offset - 1  # positions start after that of the padding
    return limit


def _tokenizer(
    path: Path, described: Mapping[str, Any], model: Any
) -> tuple[Any, list[ModelDirectoryError]]:
    """The tokenizer, or None if texts are lists of ids; and notes."""
    try:
        with reported("no_tokenizer", name=path.name):
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(path), config=model.config, **_LOCAL
            )
            return fitting(tokenizer, described, embeddings(model), path.name)
    except ModelDirectoryError as error:
        if error.key != "no_tokenizer":
            raise
        return None, [error]
