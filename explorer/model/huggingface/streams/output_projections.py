"""The output projections of the heads in a model of the library.

Families name these modules differently. They are found by their input: the projection is the first
linear layer after a call of attention whose input is the unchanged output of that call.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers.pytorch_utils import Conv1D

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy
from explorer.model.huggingface.capture.attention_calls import Call
from explorer.model.huggingface.capture.module_hooks import hooked
from explorer.model.huggingface.capture.passes import full_pass
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.placement import devices_of

LINEAR = (torch.nn.Linear, Conv1D)
"""The linear layers of the library."""


def by_input(projection: Any) -> Tensor:
    """The weights (inputs, outputs) of a linear layer."""
    weight: Tensor = projection.weight if isinstance(projection, Conv1D) else projection.weight.T
    return weight.detach().float().cpu()


def projects(states: Any, call: Call) -> bool:
    """Whether `states`, which go into a linear layer, are the unchanged outputs of the heads."""
    if not isinstance(states, Tensor):
        return False
    output, given = call.output.flatten(-2), states.cpu()
    same = given.shape[-1] == output.shape[-1]
    return same and torch.equal(given.reshape(-1), output.reshape(-1))


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
        found.setdefault(place.site, []).append(by_input(module))
    return found


def _modules(model: Any, anatomy: Anatomy, inputs: Inputs) -> dict[tuple[str, int], Any]:
    """(site, layer) → the module that projects the outputs of its heads."""
    projections: dict[tuple[str, int], Any] = {}
    waiting: list[tuple[tuple[str, int], Call]] = []  # the last call, until its module is found

    def remember(places: Sequence[Any], index: int, call: Call) -> None:
        place = places[index]
        waiting[:] = [((place.site, place.layer), call)]

    def compare(module: Any, given: Any, _: Any) -> None:
        if waiting and projects(given, waiting[0][1]):
            projections[waiting[0][0]] = module
            waiting.clear()

    linear = [module for module in model.modules() if isinstance(module, LINEAR)]
    stacks = {"encoder": anatomy.encoder, "decoder": anatomy.decoder}
    seen = {stack: partial(remember, places) for stack, places in stacks.items()}
    with hooked((module, compare) for module in linear):
        full_pass(model, anatomy, inputs, seen=seen)
    return projections
