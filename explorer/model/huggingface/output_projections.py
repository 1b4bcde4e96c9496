"""The output projections of the heads in a model of the library.

Families name these modules differently. They are found by their input: the projection is the first
linear layer after a call of attention whose input is the unchanged output of that call.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.pytorch_utils import Conv1D

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy
from explorer.model.huggingface.capture import Call
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.passes import full_pass
from explorer.model.huggingface.placement import devices_of


@torch.inference_mode()
def output_weights(model: Any, anatomy: Anatomy, inputs: Inputs) -> Mapping[str, list[Tensor]]:
    """By site, the weights (H · width, D) of the output projection of each layer.

    inputs: any sequence. Raises `ConfigError` if a layer has no projection, or weights are on disk.
    """
    found: dict[str, list[Tensor]] = {}
    modules = _modules(model, anatomy, inputs)
    for place in anatomy.places:
        module = modules.get((place.site, place.layer))
        if module is None or "disk" in devices_of(model):
            raise ConfigError("no_projection", family=str(model.config.model_type))
        weight = module.weight if isinstance(module, Conv1D) else module.weight.T
        found.setdefault(place.site, []).append(weight.float().cpu())
    return found


def _modules(model: Any, anatomy: Anatomy, inputs: Inputs) -> dict[tuple[str, int], Any]:
    """(site, layer) → the module that projects the outputs of its heads."""
    projections: dict[tuple[str, int], Any] = {}
    waiting: list[tuple[tuple[str, int], Tensor]] = []  # the last call, until its module is found

    def remember(places: Sequence[Any], index: int, call: Call) -> None:
        place = places[index]
        waiting[:] = [((place.site, place.layer), call.output.flatten(-2))]

    def compare(module: Any, arguments: tuple[Any, ...]) -> None:
        if waiting and arguments and isinstance(arguments[0], Tensor):
            key, output = waiting[0]
            states = arguments[0].cpu()
            if states.shape[-1] == output.shape[-1] and torch.equal(
                states.reshape(-1), output.reshape(-1)
            ):
                projections[key] = module
                waiting.clear()

    linear = (torch.nn.Linear, Conv1D)
    hooks = [
        module.register_forward_pre_hook(compare)
        for module in model.modules()
        if isinstance(module, linear)
    ]
    stacks = {"encoder": anatomy.encoder, "decoder": anatomy.decoder}
    watchers = {
        stack: lambda index, call, places=places: remember(places, index, call)
        for stack, places in stacks.items()
    }
    try:
        full_pass(model, anatomy, inputs, seen=watchers)
    finally:
        for hook in hooks:
            hook.remove()
    return projections
