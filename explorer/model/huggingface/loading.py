"""Open a directory as a model.

Nothing is fetched, and no code from the directory runs. Missing and unused weights are named;
missing ones are never replaced by random numbers.
"""

import warnings
from collections.abc import Iterable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

from explorer.core.errors import ModelDirectoryError
from explorer.core.memory import free_memory
from explorer.model.huggingface import tokenizer_check
from explorer.model.huggingface.adapter_files import Adapter
from explorer.model.huggingface.adapters import merged, refuse_unreadable
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.assumed_family import assumed_family
from explorer.model.huggingface.config_faults import config_fault, size_fault
from explorer.model.huggingface.directory_files import (
    CONFIG,
    read_config,
    refuse_odd_files,
    tokenizer_among,
    weight_files,
)
from explorer.model.huggingface.hub_cache import model_name
from explorer.model.huggingface.other_contents import (
    refuse_absent_parts,
    refuse_damaged_weights,
    refuse_other_formats,
    refuse_pointers,
)
from explorer.model.huggingface.placement import Placement, devices_of
from explorer.model.huggingface.returned_weights import notes_of
from explorer.model.huggingface.tokenizer_fit import fit_notes
from explorer.model.huggingface.tokens import Tokens, is_usable
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.model.huggingface.verification import examine
from explorer.model.huggingface.weight_layout import store_by_input
from explorer.model.huggingface.weight_loading import LOCAL, StoredWeights
from explorer.model.huggingface.weight_sizes import refuse_other_sizes, tensor_sizes

IN_MEMORY = Placement()

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def open_directory(
    path: Path,
    name: str | None = None,
    dtype: str = "float32",
    placement: Placement = IN_MEMORY,
) -> HuggingFaceModel:
    """The model in a directory that the library wrote, checked and ready to trace.

    name: in the facts of its traces; None = the name of the directory or, for a snapshot of the
        hub, of its model.
    dtype: "float32", "float16" or "bfloat16".
    placement: devices or disk for the weights.

    Raises `ModelDirectoryError`, and `FileError` if the system denies reading a file.
    """
    if dtype not in DTYPES:
        raise ModelDirectoryError("bad_dtype", dtype=dtype, known=", ".join(DTYPES))
    shown = model_name(path) if name is None else name
    try:
        adapter = Adapter.within(path)
        if adapter is None:
            return _opened(path, shown, dtype, placement)
        return _adapted(adapter, shown, dtype, placement)
    except ModelDirectoryError as error:
        raise error.of(shown) from error


def _adapted(adapter: Adapter, name: str, dtype: str, placement: Placement) -> HuggingFaceModel:
    """The base model of an adapter, with the adapter in its weights."""
    refuse_odd_files(adapter.path)
    refuse_unreadable(adapter)
    base = adapter.base_directory()
    named = {"name": name, "base": adapter.base or "?"}
    if base is None:
        raise ModelDirectoryError("no_base", **named)
    if placement.device_map is not None:
        raise ModelDirectoryError("adapter_placed", **named)
    try:
        return _opened(base, name, dtype, placement, adapter)
    except ModelDirectoryError as error:
        if error.key == "adapter_misfit":
            raise
        raise ModelDirectoryError(
            "base_refused", reason=error.of(model_name(base)), **named
        ) from error


def _opened(
    path: Path, name: str, dtype: str, placement: Placement, adapter: Adapter | None = None
) -> HuggingFaceModel:
    refuse_odd_files(path)
    described = _described(path)
    try:
        return _built(path, name, described, dtype, placement, adapter)
    except ModelDirectoryError as error:
        if error.key == "other_sizes" and "auto_map" in described:  # with own size names
            family = str(described.get("model_type"))[:80]
            raise ModelDirectoryError("own_code", family=family) from error
        raise size_fault(path.name, described) or error from error


def _built(
    path: Path,
    name: str,
    described: dict[str, Any],
    dtype: str,
    placement: Placement,
    adapter: Adapter | None,
) -> HuggingFaceModel:
    files = _weight_files(path)
    refuse_other_sizes(path, files)
    notes, family = [], _unnamed_family(path, described, files)
    if family:
        described = described | {"model_type": family}
        notes.append(ModelDirectoryError("assumed_family", family=family))
    trial = tokenizer_check.begin(path, family)
    config = _config(path, described, family)
    loaded_as = torch.float32 if adapter else DTYPES[dtype]  # an adapter is merged in float32
    if placement.device_map is None:  # with a device map, the rest stays on disk
        _refuse_large(path, files, loaded_as)
    options = {"dtype": loaded_as, **placement.options}
    kind, model, left = _fitting(StoredWeights(path, files, described, config, options))
    if adapter:
        model = merged(model, adapter).to(DTYPES[dtype])
        notes.append(ModelDirectoryError("merged_adapter", base=model_name(path)))
    if not devices_of(model):
        store_by_input(model)
    tokenizer, doubts = _tokenizer(path, described, config, embeddings(model), trial.result())
    return assembled(name, model, kind, tokenizer, [*notes, *left, *doubts])


def assembled(
    name: str, model: Any, kind: Kind, tokenizer: Any, notes: Iterable[ModelDirectoryError]
) -> HuggingFaceModel:
    """A checked model from one in memory, in eval mode; its attention is captured from then on.

    tokenizer: None = texts are lists of ids. notes: shown to readers of the model.
    """
    size, positions = embeddings(model), _positions(model)
    anatomy = _examined(model, kind, size, positions)
    known = [*notes_of(anatomy, model), *notes]
    return HuggingFaceModel(
        name=name,
        model=model,
        anatomy=anatomy,
        tokens=Tokens(tokenizer, size),
        positions=positions,
        notes=tuple(note.of(name) if "name" in note.facts else note for note in known),
    )


def embeddings(model: Any) -> int:
    """Number of ids that have embeddings. Raises `ModelDirectoryError`."""
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError) as error:
        family = str(model.config.model_type)
        raise ModelDirectoryError("no_embeddings", family=family) from error


def _unnamed_family(path: Path, described: dict[str, Any], files: list[Path]) -> str:
    """The family by the names of weights, for a config without one; "" if the config names one.

    Raises `ModelDirectoryError` if the weights do not show it.
    """
    if isinstance(described.get("model_type"), str):
        return ""
    family = assumed_family(files)
    if family is None:
        raise ModelDirectoryError("no_model_type", name=path.name)
    return family


def _fitting(stored: StoredWeights) -> tuple[Kind, Any, list[ModelDirectoryError]]:
    """The kind and the model of the first class that lacks no weights, and notes."""
    first, *plain = _class_names(stored.described, stored.config)
    kind, model_class = _model_class(first, stored.config)
    loaded, notes = stored.into(model_class), []
    if plain and loaded.absent and loaded.lacks_head_alone:
        kind, model_class = _model_class(plain[0], stored.config)
        notes.append(ModelDirectoryError("no_head_weights", model_class=plain[0]))
        loaded = stored.into(model_class)
    stored.refuse_absent(loaded)
    loaded = stored.widened(loaded)
    if note := stored.note_unused(loaded):
        notes.append(note)
    return kind, loaded.model.eval(), notes


def _examined(model: Any, kind: Kind, size: int, positions: int | None) -> Anatomy:
    try:
        return examine(model, kind, size, positions)
    except ModelDirectoryError as error:
        if error.key == "cannot_run" and "disk" in devices_of(model):
            raise ModelDirectoryError("cannot_run_from_disk", **error.facts) from error
        raise


def _described(path: Path) -> dict[str, Any]:
    """`config.json`. Raises `ModelDirectoryError`, which names what the directory holds instead."""
    try:
        return read_config(path)
    except ModelDirectoryError as error:
        if error.key == "no_config":
            refuse_other_formats(path, [file.name for file in path.iterdir()])
        if error.key == "damaged_config":
            refuse_pointers(path, [path / CONFIG])
        raise


def _weight_files(path: Path) -> list[Path]:
    """The files with weights. Raises `ModelDirectoryError`, which names what is there instead."""
    names = [file.name for file in path.iterdir()]
    refuse_absent_parts(path, names)
    try:
        files = weight_files(path)
    except ModelDirectoryError:
        refuse_other_formats(path, names)
        raise
    refuse_pointers(path, [*files, *(path / name for name in tokenizer_among(names))])
    refuse_damaged_weights(path, files)
    return files


def _config(path: Path, described: dict[str, Any], unnamed: str) -> Any:
    """The library's config. unnamed: the family, if the file names none."""
    kind = transformers.CONFIG_MAPPING[unnamed] if unnamed else transformers.AutoConfig
    try:
        return kind.from_pretrained(str(path), **LOCAL)
    except Exception as error:
        family = str(described["model_type"])[:80]
        key = "own_code" if "auto_map" in described else "unknown_family"
        if key == "unknown_family" and family in transformers.CONFIG_MAPPING:
            raise config_fault(path.name, described, error) from error
        facts = {"family": family, "version": transformers.__version__}
        raise ModelDirectoryError(key, **facts) from error


def _model_class(name: str, config: Any) -> tuple[Kind, Any]:
    """The kind of a model, and the library's class of that name."""
    found: Any = getattr(transformers, name, None)
    if not isinstance(found, type) or not hasattr(found, "can_generate"):
        raise ModelDirectoryError("unknown_architecture", architecture=name[:80])
    if getattr(found, "main_input_name", "input_ids") != "input_ids":
        raise ModelDirectoryError("no_text", family=config.model_type)
    return kind_of(found, config), found


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


def _class_names(described: Mapping[str, Any], config: Any) -> tuple[str, ...]:
    """Names of the library's classes that may hold the weights, best first.

    Usually this is the class that wrote them. If the config names no class, or one without a head
    in a family whose head is only tied embeddings, the class with a head comes first.
    """
    listed = described.get("architectures")
    named = listed[0] if isinstance(listed, list) and listed else None
    plain = MODEL_MAPPING_NAMES.get(config.model_type)
    tables = [MODEL_FOR_MASKED_LM_MAPPING_NAMES, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES]
    if config.is_encoder_decoder:
        tables = [MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES]
    heads = [name for table in tables if isinstance(name := table.get(config.model_type), str)]
    if isinstance(named, str) and (named != plain or not heads or _fills_masks(config)):
        return (named,)
    names = [*heads[:1], *([plain] if isinstance(plain, str) else [])]
    return tuple(names) or (str(config.model_type),)


def _fills_masks(config: Any) -> bool:
    """Whether a family fills in masks. Its head is more than the embeddings, so it is stored."""
    both = config.is_encoder_decoder
    return config.model_type in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not both


def _refuse_large(path: Path, files: list[Path], dtype: torch.dtype) -> None:
    """Raise `ModelDirectoryError` when the weights do not fit into free memory."""
    needed = sum(_bytes_in_memory(file, dtype) for file in files)
    free = free_memory()
    if needed > free:
        gigabytes = {"needed": f"{needed / 2**30:.1f}", "free": f"{free / 2**30:.1f}"}
        raise ModelDirectoryError("too_large", name=path.name, **gigabytes)


def _bytes_in_memory(file: Path, dtype: torch.dtype) -> int:
    """Bytes of the weights of a file once they are numbers of `dtype`."""
    sizes = tensor_sizes(file)
    return file.stat().st_size if sizes is None else sum(sizes) * dtype.itemsize


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
    path: Path,
    described: dict[str, Any],
    config: Any,
    size: int,
    fault: ModelDirectoryError | None,
) -> tuple[Any, list[ModelDirectoryError]]:
    """The tokenizer, or None if texts are lists of ids; and notes.

    fault: why the tokenizer is not used, found by the trial in a child process.
    """
    if not tokenizer_among(file.name for file in path.iterdir()):
        fault = ModelDirectoryError("no_tokenizer", name=path.name)
    if fault is not None:
        return None, [fault]
    try:
        with warnings.catch_warnings():  # for example about packages that some tokenizers recommend
            warnings.simplefilter("ignore")
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(path), config=config, **LOCAL
            )
            usable = is_usable(tokenizer)
    except Exception:
        return None, [ModelDirectoryError("no_tokenizer", name=path.name)]
    if not usable:
        return None, [ModelDirectoryError("empty_tokenizer", name=path.name)]
    return tokenizer, fit_notes(tokenizer, described, size)
