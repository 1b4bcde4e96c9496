"""The residual stream after each layer of a model of the library, read and changed by hooks.

Families name their layers differently. They are found around the calls of attention: a layer is an
entry of the outermost list of modules that has them. `residual_reading` looks inside of a layer,
and refuses families that this does not: here only what lies between the layers has to be the
stream.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from explorer.core.errors import ConfigError
from explorer.model.huggingface.anatomy import Anatomy
from explorer.model.huggingface.capture.attention_calls import Call
from explorer.model.huggingface.capture.module_hooks import hooked
from explorer.model.huggingface.capture.passes import full_pass
from explorer.model.huggingface.inputs import Inputs
from explorer.model.points import Actions, Point


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """One run of an entry of a list of modules, and the states that it got and returned."""

    path: str
    given: Tensor | None
    returned: Tensor | None

    @property
    def list_path(self) -> str:
        return self.path.rpartition(".")[0]


@torch.inference_mode()
def layer_paths(model: Any, anatomy: Anatomy, inputs: Inputs) -> dict[str, list[str]]:
    """By stack, the path of the module of each layer, in the order of the calls: one module may run
    as every layer.

    inputs: any sequence. Raises `ConfigError` unless what a layer returns is what the next one
    gets, so that it is the residual stream.
    """
    lists = _outermost_lists(model)
    attended: dict[str, set[Any]] = {"encoder": set(), "decoder": set()}
    runs: list[_Run] = []

    def attend(stack: str, _: int, call: Call) -> None:
        attended[stack].add(call.module)

    def note(path: str, _: Any, given: Any, output: Any) -> None:
        runs.append(_Run(path, _if_states(given), _if_states(_states(output))))

    entries = [
        (module, partial(note, f"{one}.{name}"))
        for one in lists
        for name, module in model.get_submodule(one).named_children()
    ]
    with hooked(entries):
        full_pass(model, anatomy, inputs, seen={one: partial(attend, one) for one in attended})
    paths = {module: path for path, module in model.named_modules()}
    found: dict[str, list[str]] = {}
    for stack, modules in attended.items():
        around = [one for one in lists if any(paths[own].startswith(f"{one}.") for own in modules)]
        if around:
            of_stack = [run for run in runs if run.list_path in around]
            if not _joined(of_stack):
                raise ConfigError("no_residual", family=str(model.config.model_type))
            found[stack] = [run.path for run in of_stack]
    return found


@contextmanager
def acting_on_layers(
    model: Any, layers: Mapping[str, Sequence[str]], actions: Actions
) -> Iterator[None]:
    """A block in which the output of a layer is what its action makes of it.

    layers: from `layer_paths`; a pass in the block runs each stack once.
    """

    def act(numbers: Iterator[int], stack: str, _: Any, given: Any, output: Any) -> Any:
        action = actions.get(Point("residual", stack, next(numbers)))
        if action is None:
            return None
        states = action(_states(output))
        return (states, *output[1:]) if isinstance(output, tuple) else states

    hooks = []
    for stack, paths in layers.items():
        numbered = partial(act, count(), stack)
        hooks += [(model.get_submodule(path), numbered) for path in dict.fromkeys(paths)]
    with hooked(hooks):
        yield


def _outermost_lists(model: Any) -> list[str]:
    """Paths of the lists of modules that are in no other one."""
    found: list[str] = []
    for path, module in model.named_modules():  # a list comes before what is in it
        inside = any(path.startswith(f"{one}.") for one in found)
        if isinstance(module, nn.ModuleList) and not inside:
            found.append(path)
    return found


def _joined(runs: Sequence[_Run]) -> bool:
    """Whether each run got what the one before it returned."""
    ends = bool(runs) and runs[-1].returned is not None
    return ends and all(_same(one.returned, other.given) for one, other in pairwise(runs))


def _states(output: Any) -> Any:
    """The hidden states among what a layer returned."""
    return output[0] if isinstance(output, tuple) else output


def _if_states(value: Any) -> Tensor | None:
    """(N, L, D) as it is, None for anything else."""
    return value if isinstance(value, Tensor) and value.dim() == 3 else None


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and torch.equal(one.cpu(), other.cpu())
