"""The residual stream after each layer of a model of the library, read and changed by hooks.

Families name their layers differently. They are found around the calls of attention: a layer is an
entry of the outermost list of modules that has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import count, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from explorer.core.errors import ConfigError
from explorer.model.hooks import Action
from explorer.model.huggingface.anatomy import Anatomy
from explorer.model.huggingface.capture import Call
from explorer.model.huggingface.inputs import Inputs
from explorer.model.huggingface.passes import full_pass
from explorer.model.measurable import Point

_running: ContextVar[object] = ContextVar("running", default=None)


@torch.inference_mode()
def layer_paths(model: Any, anatomy: Anatomy, inputs: Inputs) -> dict[str, list[str]]:
    """By stack, the path of the module of each layer, in the order of the calls: one module may run
    as every layer.

    inputs: any sequence. Raises `ConfigError` unless what a layer returns is what the next one
    gets, so that it is the residual stream.
    """
    found: dict[str, list[str]] = {}
    for stack, paths in _entries(model, anatomy, inputs).items():
        passed: list[tuple[str, Tensor | None, Tensor | None]] = []
        hooks = [
            model.get_submodule(path).register_forward_hook(
                partial(_note, passed, path), with_kwargs=True
            )
            for path in paths
        ]
        try:
            full_pass(model, anatomy, inputs)
        finally:
            for hook in hooks:
                hook.remove()
        joined = all(_same(one[2], other[1]) for one, other in pairwise(passed))
        if not passed or passed[-1][2] is None or not joined:
            raise ConfigError("no_residual", family=str(model.config.model_type))
        found[stack] = [path for path, _, _ in passed]
    return found


@contextmanager
def acting(
    model: Any, layers: Mapping[str, Sequence[str]], actions: Mapping[Point, Action]
) -> Iterator[None]:
    """A block in which the output of a layer is what its action makes of it, in this thread alone:
    others share the model.

    layers: from `layer_paths`; a pass in the block runs each stack once.
    """
    mine = object()

    def act(numbers: Iterator[int], stack: str, _: Any, args: Any, output: Any) -> Any:
        if _running.get() is not mine:
            return None
        action = actions.get(Point("residual", stack, next(numbers)))
        if action is None:
            return None
        states = action(_states(output))
        return (states, *output[1:]) if isinstance(output, tuple) else states

    token, hooks = _running.set(mine), []
    for stack, paths in layers.items():
        numbers = count()
        hooks += [
            model.get_submodule(path).register_forward_hook(partial(act, numbers, stack))
            for path in dict.fromkeys(paths)
        ]
    try:
        yield
    finally:
        _running.reset(token)
        for hook in hooks:
            hook.remove()


def _entries(model: Any, anatomy: Anatomy, inputs: Inputs) -> dict[str, list[str]]:
    """By stack, the paths of all entries of the lists of modules around its attention."""
    modules: dict[str, list[Any]] = {"encoder": [], "decoder": []}

    def note(stack: str, _: int, call: Call) -> None:
        modules[stack].append(call.module)

    full_pass(model, anatomy, inputs, seen={stack: partial(note, stack) for stack in modules})
    paths = {module: path for path, module in model.named_modules()}
    found: dict[str, list[str]] = {}
    for stack, called in modules.items():
        lists = dict.fromkeys(_list_around(model, paths[module]) for module in called)
        entries = [f"{one}.{name}" for one in lists for name, _ in _children(model, one)]
        if entries:
            found[stack] = entries
    return found


def _list_around(model: Any, path: str) -> str:
    """Path of the outermost list of modules that has the module at `path`; "" without one."""
    names = path.split(".")
    around = (".".join(names[:length]) for length in range(1, len(names)))
    return next((one for one in around if isinstance(model.get_submodule(one), nn.ModuleList)), "")


def _children(model: Any, path: str) -> list[tuple[str, Any]]:
    return list(model.get_submodule(path).named_children()) if path else []


def _note(
    passed: list[tuple[str, Tensor | None, Tensor | None]],
    path: str,
    _: Any,
    args: tuple[Any, ...],
    options: Mapping[str, Any],
    output: Any,
) -> None:
    """Add the states that a layer got and returned."""
    given = args[0] if args else options.get("hidden_states")
    passed.append((path, _if_states(given), _if_states(_states(output))))


def _states(output: Any) -> Any:
    """The hidden states among what a layer returned."""
    return output[0] if isinstance(output, tuple) else output


def _if_states(value: Any) -> Tensor | None:
    """(N, L, D) as it is, None for anything else."""
    return value if isinstance(value, Tensor) and value.dim() == 3 else None


def _same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and torch.equal(one.cpu(), other.cpu())
