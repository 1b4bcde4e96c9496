"""Wrap a model of the library that is in memory: fine-tuned, adapted, or built from a config."""

import copy
from pathlib import Path
from typing import Any

import torch
import transformers

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.library_errors import reason_of
from explorer.model.huggingface.opening.loading import (
    DTYPES,
    assembled,
    embeddings,
    kind_of,
    refuse_other_inputs,
)
from explorer.model.huggingface.opening.tokenizer_fit import fitting
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.model.wrapped_names import unwrapped


def wrapped(
    model: Any, tokenizer: Any = None, name: str | None = None, *, copied: bool = True
) -> HuggingFaceModel:
    """The model for `explorer.wrap`; same arguments and errors."""
    own = _of_library(model)
    kind = kind_of(type(own), own.config)
    name = _name(own) if name is None else name
    used, notes = (None, []) if tokenizer is None else _fitting(tokenizer, own)
    return assembled(name, _copy(own, name) if copied else _ready(own), kind, used, notes)


def _of_library(given: Any) -> Any:
    """The library's model in a caller's object. Raises `ModelDirectoryError` without one."""
    model = unwrapped(given)
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        if getattr(model.active_peft_config, "is_prompt_learning", False):
            method = str(getattr(model.active_peft_config, "peft_type", "")).split(".")[-1]
            raise ModelDirectoryError("wrap_prompt", method=method)
        model = model.get_base_model()  # its layers hold the adapters
    if isinstance(model, transformers.PreTrainedModel):
        refuse_other_inputs(type(model), model.config)
        if model.dtype not in DTYPES.values():
            supported, dtype = ", ".join(DTYPES), str(model.dtype).removeprefix("torch.")
            raise ModelDirectoryError("wrap_dtype", dtype=dtype, known=supported)
        return model
    kind = type(given).__name__
    if isinstance(given, HuggingFaceModel):
        raise ModelDirectoryError("wrap_wrapped", got=kind)
    if isinstance(given, str | Path):
        raise ModelDirectoryError("wrap_path", got=str(given))
    if isinstance(given, transformers.Pipeline):
        raise ModelDirectoryError("wrap_pipeline", got=kind)
    if not isinstance(model, torch.nn.Module):
        raise ModelDirectoryError("wrap_other", got=kind)
    for path, part in model.named_modules():
        if isinstance(part, transformers.PreTrainedModel):
            raise ModelDirectoryError("wrap_inside", got=kind, path=path)
    raise ModelDirectoryError("wrap_module", got=kind)


def _name(model: Any) -> str:
    """Name from the model's path, else its class."""
    return Path(str(model.config.name_or_path or "")).name or type(model).__name__


def _fitting(tokenizer: Any, model: Any) -> tuple[Any, list[ModelDirectoryError]]:
    """The tokenizer, or None if texts are lists of ids; and notes.

    Raises `ModelDirectoryError` if it is not a tokenizer, or one of another model.
    """
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        raise ModelDirectoryError("wrap_tokenizer", got=type(tokenizer).__name__)
    return fitting(tokenizer, model.config.to_dict(), embeddings(model), tokenizer.name_or_path)


def _copy(model: Any, name: str) -> Any:
    """A copy, as `_ready`. Raises `ModelDirectoryError` if the model cannot be copied."""
    if any(weight.device.type == "meta" for weight in model.parameters()):
        raise ModelDirectoryError("wrap_on_disk", name=name)
    try:
        with torch.inference_mode(False):
            copied = copy.deepcopy(model)
            for weight in copied.parameters():
                weight.data = weight.data.contiguous()
            return _ready(copied)
    except Exception as error:  # too little memory, or a part that cannot be copied
        raise ModelDirectoryError("wrap_no_copy", name=name, reason=reason_of(error)) from error


@torch.no_grad()
def _ready(model: Any) -> Any:
    """The model in eval mode, with its active adapters of peft merged into the weights below them.

    Disabled adapters stay disabled. A quantised model is left unchanged, because its weights would
    lose the small additions.
    """
    parts = [] if getattr(model, "is_quantized", False) else list(model.modules())
    for part in parts:
        if hasattr(part, "base_layer") and not getattr(part, "disable_adapters", True):
            part.merge()
    return model.eval()
