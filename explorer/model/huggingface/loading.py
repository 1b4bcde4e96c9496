"""Open a directory as a model: nothing is fetched, no code from the directory runs, and weights
that are missing or left over are named instead of being made up.
"""

import warnings
from contextlib import suppress
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

from explorer.core.errors import ExplorerError, ModelDirectoryError
from explorer.core.files import opened, printable
from explorer.core.memory import free_memory
from explorer.model.huggingface import tokenizer_check
from explorer.model.huggingface.anatomy import Anatomy, Kind
from explorer.model.huggingface.config_faults import build_fault, config_fault, size_fault
from explorer.model.huggingface.directory_files import (
    CONFIG,
    read_config,
    refuse_odd_files,
    tokenizer_among,
    weight_files,
)
from explorer.model.huggingface.other_contents import (
    quantised,
    refuse_absent_parts,
    refuse_adapter,
    refuse_pointers,
)
from explorer.model.huggingface.placement import Placement, devices_of
from explorer.model.huggingface.returned_weights import notes_of
from explorer.model.huggingface.tokenizer_fit import doubt, refuse_other_tokenizer
from explorer.model.huggingface.tokens import Tokens, is_usable
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.model.huggingface.verification import examine
from explorer.model.huggingface.weight_layout import store_by_input
from explorer.model.huggingface.weight_sizes import (
    refuse_other_sizes,
    sizes_within,
    tensor_sizes,
)
from explorer.model.pickled_weights import asks_for_memory
from explorer.model.wrapped_names import WRAPPERS, are_wrapped

IN_MEMORY = Placement()

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}

_LOCAL = {"local_files_only": True, "trust_remote_code": False}  # unset, the latter asks on stdin
_SHOWN = 6  # names in a message


def open_directory(
    path: Path,
    name: str | None = None,
    dtype: str = "float32",
    placement: Placement = IN_MEMORY,
) -> HuggingFaceModel:
    """The model in a directory that the library wrote, checked and ready to trace.

    name: in the facts of its traces; None = that of the directory.
    dtype: "float32", "float16" or "bfloat16".
    placement: where the weights are.

    Raises `ModelDirectoryError`, and `FileError` on what the system does not let us read.
    """
    if dtype not in DTYPES:
        raise ModelDirectoryError("bad_dtype", dtype=dtype, known=", ".join(DTYPES))
    refuse_odd_files(path)
    described = _described(path)
    try:
        return _opened(path, path.resolve().name if name is None else name, dtype, placement)
    except ModelDirectoryError as error:
        raise size_fault(path.name, described) or error from error


def _opened(path: Path, name: str, dtype: str, placement: Placement) -> HuggingFaceModel:
    described = _described(path)
    files = _weight_files(path)
    refuse_other_sizes(path, files)
    trial = tokenizer_check.begin(path)
    config = _config(path, described)
    kind, model_class = _model_class(path, described, config)
    if placement.device_map is None:  # else what does not fit stays on disk
        _refuse_large(path, files, DTYPES[dtype])
    options = {"dtype": DTYPES[dtype], **placement.options}
    model = _weights(path, model_class, files, options, described)
    if not devices_of(model):
        store_by_input(model)
    size = _embeddings(model)
    tokenizer, note = _tokenizer(path, described, size, trial.result())
    positions = _positions(model)
    anatomy = _examined(model, kind, size, positions)
    return HuggingFaceModel(
        name=name,
        model=model,
        anatomy=anatomy,
        tokens=Tokens(tokenizer, size),
        positions=positions,
        notes=(*notes_of(anatomy, model), *(() if note is None else (note,))),
    )


def _embeddings(model: Any) -> int:
    """The number of ids that a model knows."""
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError) as error:
        family = str(model.config.model_type)
        raise ModelDirectoryError("no_embeddings", family=family) from error


def _examined(model: Any, kind: Kind, size: int, positions: int | None) -> Anatomy:
    try:
        return examine(model, kind, size, positions)
    except ModelDirectoryError as error:
        if error.key == "cannot_run" and "disk" in devices_of(model):
            raise ModelDirectoryError("cannot_run_from_disk", **error.facts) from error
        raise


def _described(path: Path) -> dict[str, Any]:
    """`config.json`, or what is in its place."""
    try:
        return read_config(path)
    except ModelDirectoryError as error:
        if error.key == "no_config":
            refuse_adapter(path)
        if error.key == "damaged_config":
            refuse_pointers(path, [path / CONFIG])
        raise


def _weight_files(path: Path) -> list[Path]:
    """The files with weights, or what is in their place."""
    names = [file.name for file in path.iterdir()]
    refuse_absent_parts(path, names)
    try:
        files = weight_files(path)
    except ModelDirectoryError:
        refuse_adapter(path)
        raise
    refuse_pointers(path, [*files, *(path / name for name in tokenizer_among(names))])
    for file in files:
        if not file.stat().st_size:
            raise ModelDirectoryError("empty_weights", name=path.name, file=printable(file.name))
        with opened(file) as stream:
            if file.suffix == ".bin" and asks_for_memory(stream):
                raise ModelDirectoryError("code_in_weights", name=path.name)
    return files


def _config(path: Path, described: dict[str, Any]) -> Any:
    try:
        return transformers.AutoConfig.from_pretrained(str(path), **_LOCAL)
    except Exception as error:
        family = str(described["model_type"])[:80]
        key = "own_code" if "auto_map" in described else "unknown_family"
        if key == "unknown_family" and family in transformers.CONFIG_MAPPING:
            raise config_fault(path.name, described, error) from error
        facts = {"family": family, "version": transformers.__version__}
        raise ModelDirectoryError(key, **facts) from error


def _model_class(path: Path, described: dict[str, Any], config: Any) -> tuple[Kind, Any]:
    """The kind of a model, and the library's class for it."""
    name = _architecture(described, config)
    found: Any = getattr(transformers, name, None)
    if not isinstance(found, type) or not hasattr(found, "can_generate"):
        raise ModelDirectoryError("unknown_architecture", architecture=name[:80])
    if getattr(found, "main_input_name", "input_ids") != "input_ids":
        raise ModelDirectoryError("no_text", family=config.model_type)
    if name.endswith("ForMultipleChoice"):
        raise ModelDirectoryError("several_texts", architecture=name)
    model_class: Any = found
    return _kind(name, model_class, config), found


def _kind(name: str, model_class: Any, config: Any) -> Kind:
    """Which stacks a class has; where it has no head for tokens, it reads a text in each."""
    family, generates = config.model_type, bool(model_class.can_generate())
    both = "decoder_input_ids" in signature(model_class.forward).parameters
    if config.is_encoder_decoder and (generates or both):
        if not generates and name == MODEL_MAPPING_NAMES.get(family):
            raise ModelDirectoryError("no_head", architecture=name)
        return Kind.ENCODER_DECODER
    masked = family in MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if generates or (family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and not masked):
        return Kind.DECODER_ONLY
    return Kind.ENCODER_ONLY


def _architecture(described: dict[str, Any], config: Any) -> str:
    """The class that wrote the weights; where the config is silent, the one with a head."""
    listed = described.get("architectures")
    if isinstance(listed, list) and listed and isinstance(listed[0], str):
        return listed[0]
    tables = [MODEL_FOR_MASKED_LM_MAPPING_NAMES, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES]
    if config.is_encoder_decoder:
        tables = [MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES]
    for table in (*tables, MODEL_MAPPING_NAMES):
        name = table.get(config.model_type)
        if isinstance(name, str):
            return name
    return str(config.model_type)


def _refuse_large(path: Path, files: list[Path], dtype: torch.dtype) -> None:
    """Raise `ModelDirectoryError` when the weights do not fit into free memory."""
    needed = sum(_bytes_in_memory(file, dtype) for file in files)
    free = free_memory()
    if free is not None and needed > free:
        gigabytes = {"needed": f"{needed / 2**30:.1f}", "free": f"{free / 2**30:.1f}"}
        raise ModelDirectoryError("too_large", name=path.name, **gigabytes)


def _bytes_in_memory(file: Path, dtype: torch.dtype) -> int:
    """Bytes of the weights of a file once they are numbers of `dtype`."""
    sizes = tensor_sizes(file)
    return file.stat().st_size if sizes is None else sum(sizes) * dtype.itemsize


def _weights(
    path: Path,
    model_class: Any,
    files: list[Path],
    options: dict[str, Any],
    described: dict[str, Any],
) -> Any:
    """The model with its weights. A file may have weights of a head that the class named in the
    config lacks; the class for pre-training then has them all."""
    model, unused = _load(path, model_class, files, options, described)
    if unused:
        stem = model_class.__name__.split("For")[0]
        wider = getattr(transformers, f"{stem}ForPreTraining", None)
        if isinstance(wider, type) and wider is not model_class:
            # Where it needs weights that are not there, the first class was the right one.
            with suppress(ModelDirectoryError):
                model, unused = _load(path, wider, files, options, described)
    if unused:
        raise ModelDirectoryError("unexpected_weights", **_names(unused))
    return model.eval()


def _load(
    path: Path,
    model_class: Any,
    files: list[Path],
    options: dict[str, Any],
    described: dict[str, Any],
) -> tuple[Any, list[str]]:
    """The model, and the names of weights it has no place for."""
    level = transformers.logging.get_verbosity()
    bar = transformers.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        with sizes_within(path, files):
            model, told = model_class.from_pretrained(
                str(path),
                use_safetensors=files[0].suffix == ".safetensors",
                attn_implementation="eager",
                output_loading_info=True,
                **options,
                **_LOCAL,
            )
    except ExplorerError:
        raise
    except Exception as error:
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        told_by = str(error).lower()
        key = "cannot_place" if "device_map" in options else "damaged_weights"
        if "weights only" in told_by or "weights_only" in told_by:
            key = "code_in_weights"
        elif "ignore_mismatched_sizes" in told_by:
            key = "other_sizes"
        elif packed := quantised(path, described):
            raise packed from error
        elif fault := _build_fault(path, model_class, files, described):
            raise fault from error
        raise ModelDirectoryError(key, name=path.name, reason=reason) from error
    finally:
        transformers.logging.set_verbosity(level)
        if bar:
            transformers.logging.enable_progress_bar()
    absent = sorted({*told["missing_keys"], *(str(one[0]) for one in told["mismatched_keys"])})
    unexpected = sorted(told["unexpected_keys"])
    if absent and are_wrapped(unexpected) and "key_mapping" not in options:
        bare = options | {"key_mapping": {WRAPPERS.pattern: ""}}
        return _load(path, model_class, files, bare, described)
    if absent:
        lacking = ModelDirectoryError("missing_weights", **_names(absent))
        raise quantised(path, described, unexpected) or lacking
    return model, unexpected


def _build_fault(
    path: Path, model_class: Any, files: list[Path], described: dict[str, Any]
) -> ModelDirectoryError | None:
    with sizes_within(path, files):
        return build_fault(path.name, described, model_class, _config(path, described))


def _names(names: list[str]) -> dict[str, object]:
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
            return limit - offset - 1  # positions count from behind the padding's
    return limit


def _tokenizer(
    path: Path, described: dict[str, Any], size: int, fault: ModelDirectoryError | None
) -> tuple[Any, ModelDirectoryError | None]:
    """The tokenizer, or None where the model goes on by ids; and what a reader should know.

    fault: why it is not used, as the trial in a child process found.
    """
    if not tokenizer_among(file.name for file in path.iterdir()):
        fault = ModelDirectoryError("no_tokenizer", name=path.name)
    if fault is not None:
        return None, fault
    try:
        with warnings.catch_warnings():  # such as of packages that some tokenizers recommend
            warnings.simplefilter("ignore")
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(path), **_LOCAL)
            usable = is_usable(tokenizer)
    except Exception:
        return None, ModelDirectoryError("no_tokenizer", name=path.name)
    if not usable:
        return None, ModelDirectoryError("empty_tokenizer", name=path.name)
    refuse_other_tokenizer(tokenizer, size)
    return tokenizer, doubt(tokenizer, described, size)
