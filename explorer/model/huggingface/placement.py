"""Models whose weights the library's `device_map` has put on other devices or on disk."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor


def devices_of(model: Any) -> list[str]:
    """The devices of `model` by its device map; empty if all of it is in memory."""
    spread = getattr(model, "hf_device_map", {})  # missing if one device holds all
    whole = [] if model.device.type == "cpu" else [model.device]
    return sorted({str(device) for device in spread.values() or whole})


def on_device(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments on the first device of `model`. With weights on disk, it takes them from any
    device."""
    device = model.device
    if device.type in ("cpu", "meta"):
        return dict(given)
    return {
        name: value.to(device) if isinstance(value, Tensor) else value
        for name, value in given.items()
    }


@torch.no_grad()
def weights_of(model: Any) -> Iterator[tuple[str, Tensor]]:
    """The stored weights by name, those on disk one module at a time."""
    for path, module in model.named_modules():
        stored = {
            **module._parameters,
            **{
                name: buffer
                for name, buffer in module._buffers.items()
                if name not in module._non_persistent_buffers_set
            },
        }
        with _in_memory(module):
            for name in stored:
                weight = getattr(module, name)
                if weight is not None:
                    yield f"{path}.{name}" if path else name, weight


def _in_memory(module: Any) -> Any:
    """A block in which the weights of a module are in memory."""
    if not hasattr(module, "_hf_hook"):
        return nullcontext()
    from accelerate.utils import align_module_device

    return align_module_device(module)
