"""Merge a LoRA adapter into its base model: W + s B A in the place of each W, so that what is
looked at is a model of the library's own classes."""

import warnings
from typing import Any

from explorer.core.errors import ModelDirectoryError
from explorer.core.files import opened, printable
from explorer.model.huggingface.adapter_files import Adapter
from explorer.model.huggingface.other_contents import refuse_pointers
from explorer.model.pickled_weights import asks_for_memory

EXTRA = "pip install 'attention-explorer[adapters]'"
"""What installs peft."""

_NAME = "default"  # of an adapter in a model; peft's own default
_SHOWN = 3  # names in a message


def refuse_unreadable(adapter: Adapter) -> None:
    """Raise `ModelDirectoryError` where an adapter cannot be merged: it is of another kind, its
    file is not whole, or peft is not installed."""
    adapter.refuse()
    file = adapter.weights
    assert file is not None
    refuse_pointers(adapter.path, [file])
    named = {"name": adapter.path.name, "file": printable(file.name)}
    if not file.stat().st_size:
        raise ModelDirectoryError("empty_weights", **named)
    with opened(file) as stream:
        if file.suffix == ".bin" and asks_for_memory(stream):
            raise ModelDirectoryError("code_in_weights", name=adapter.path.name)
    try:
        import peft  # noqa: F401
    except ImportError as error:
        named = {"name": adapter.path.name, "base": adapter.base, "command": EXTRA}
        raise ModelDirectoryError("no_peft", **named) from error


def merged(model: Any, adapter: Adapter) -> Any:
    """`model` with the adapter in its weights, in the numbers that it has.

    Raises `ModelDirectoryError` where the adapter is of another model.
    """
    import peft  # late: it takes seconds, and need not be installed

    named = {"name": adapter.path.name, "base": adapter.base}
    try:
        with warnings.catch_warnings():  # of peft, on what it goes on without
            warnings.simplefilter("ignore")
            config = peft.PeftConfig.from_pretrained(str(adapter.path))
            config.inference_mode = True
            adapted = peft.PeftModel(model, config, _NAME)
            told = adapted.load_adapter(str(adapter.path), _NAME, torch_device="cpu")
            whole = adapted.merge_and_unload(safe_merge=True)
    except Exception as error:  # of peft and torch, of many kinds
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        raise ModelDirectoryError("adapter_misfit", reason=reason, **named) from error
    if odd := sorted({*told.missing_keys, *told.unexpected_keys}):
        more = " …" if len(odd) > _SHOWN else ""
        reason = ", ".join(odd[:_SHOWN]) + more
        raise ModelDirectoryError("adapter_misfit", reason=reason, **named)
    return whole.eval()
