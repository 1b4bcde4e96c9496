"""Placement of the weights of a model: in memory, or on several devices and on disk, by the
library's own `device_map` and Accelerate."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from explorer.core.errors import ModelDirectoryError

_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")


@dataclass(frozen=True, slots=True)
class Placement:
    """The placement that a caller asks for. Raises `ModelDirectoryError` on an unknown device map,
    and on the other options without one.

    device_map: "auto" and the like, a device such as "cuda" for the whole model, or module →
        device; None = all in memory.
    max_memory: the most bytes on each device, such as {"cpu": "8GiB"}; the rest stays on disk.
    offload_folder: for weights on disk that cannot be read from the model's own files.
    """

    device_map: str | Mapping[str, Any] | None = None
    max_memory: Mapping[Any, Any] | None = None
    offload_folder: str | Path | None = None

    def __post_init__(self) -> None:
        known = self.device_map is None or isinstance(self.device_map, Mapping)
        if not known and self.device_map not in _MAPS and not _is_device(self.device_map):
            raise ModelDirectoryError("bad_device_map", got=self.device_map, known=", ".join(_MAPS))
        more = self.max_memory is not None or self.offload_folder is not None
        if more and self.device_map is None:
            raise ModelDirectoryError("memory_without_map")

    @property
    def options(self) -> dict[str, Any]:
        """The library's own arguments for loading."""
        if self.device_map is None:
            return {}
        limits = None if self.max_memory is None else dict(self.max_memory)
        options = {"device_map": self.device_map, "max_memory": limits}
        return options | {"offload_folder": self.offload_folder} if self.offload_folder else options


def _is_device(name: Any) -> bool:
    """Whether a device of that name can exist, such as "cuda:1"."""
    try:
        return isinstance(name, str) and bool(torch.device(name))
    except RuntimeError:
        return False


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
