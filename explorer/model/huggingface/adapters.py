"""Merge a LoRA adapter into its base model: each W becomes W + s B A.

The result is a model of the library's own classes.
"""

import warnings
from typing import Any

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.adapter_files import Adapter
from explorer.model.huggingface.other_contents import refuse_damaged_weights

EXTRA = "pip install 'attention-explorer[adapters]'"
"""Command that installs peft."""

_NAME = "default"  # of an adapter in a model; peft's own default
_SHOWN = 3  # names in a message


def refuse_unreadable(adapter: Adapter) -> None:
    """Raise `ModelDirectoryError` if an adapter cannot be merged: it is of another kind, its
    file is not whole, or peft is not installed."""
    adapter.refuse()
    assert adapter.weights is not None
    refuse_damaged_weights(adapter.path, [adapter.weights])
    try:
        import peft  # noqa: F401
    except ImportError as error:
        named = {"name": adapter.path.name, "base": adapter.base, "command": EXTRA}
        raise ModelDirectoryError("no_peft", **named) from error


def merged(model: Any, adapter: Adapter) -> Any:
    """`model` with the adapter merged into its weights, in its own dtype.

    Raises `ModelDirectoryError` if the adapter belongs to another model.
    """
    import peft  # late: it takes seconds, and need not be installed

    named = {"name": adapter.path.name, "base": adapter.base}
    try:
        with warnings.catch_warnings():  # warnings of peft about missing parts that it does without
            warnings.simplefilter("ignore")
            config = peft.PeftConfig.from_pretrained(str(adapter.path))
            config.inference_mode = True
            adapted = peft.PeftModel(model, config, _NAME)
            told = adapted.load_adapter(str(adapter.path), _NAME, torch_device="cpu")
            whole = adapted.merge_and_unload(safe_merge=True)
    except Exception as error:  # peft and torch raise many kinds
        reason = str(error).strip().split("\n")[0][:160] or type(error).__name__
        raise ModelDirectoryError("adapter_misfit", reason=reason, **named) from error
    if odd := sorted({*told.missing_keys, *told.unexpected_keys}):
        more = " …" if len(odd) > _SHOWN else ""
        reason = ", ".join(odd[:_SHOWN]) + more
        raise ModelDirectoryError("adapter_misfit", reason=reason, **named)
    return whole.eval()
