"""Record values inside a model, or edit them while it runs.

A `HookPoint` is an identity module at each value of interest. The actions on it are stored in a
context variable, not on the module: threads that trace one shared model never see each other's
values, and nothing stays registered when a `with` block ends.

    with recorded(model, "*.pattern") as values:
        model(source, target)
    values[path("cross", 1, "pattern")]  # (B, H, T, S)
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NoReturn, Protocol

from torch import Tensor, nn

from explorer.core.errors import HookError
from explorer.core.sites import sides
from explorer.model.points import Action

_nothing: Mapping["HookPoint", tuple[Action, ...]] = MappingProxyType({})
_actions = ContextVar("_actions", default=_nothing)


MODULES = {
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}
"""Site → path of the attention module of a layer."""

STACKS = sides("encoder", "decoder")
"""Site → the stack whose tokens are its queries, and the one whose tokens are its keys."""


class HookPoint(nn.Module):
    """The identity, unless this context records or edits the value."""

    def __call__(self, value: Tensor) -> Tensor:
        # Runs dozens of times per step; `nn.Module.__call__` would take three times as long.
        for action in _actions.get().get(self, ()):
            value = action(value)
        return value

    def _refuse_hook(self, *_: object, **__: object) -> NoReturn:
        """PyTorch's hooks never run, since `__call__` is replaced. Raises `HookError`."""
        raise HookError("no_torch_hook", module=__name__)

    register_forward_hook = register_forward_pre_hook = _refuse_hook
    register_full_backward_hook = register_full_backward_pre_hook = _refuse_hook
    register_backward_hook = _refuse_hook


def watched(*points: HookPoint) -> bool:
    """Whether this context records or edits the value at one of `points`."""
    actions = _actions.get()
    return bool(actions) and any(point in actions for point in points)


class Hooked(Protocol):
    """A model with its `hook_points` by path."""

    hook_points: dict[str, HookPoint]


def path(site: str, layer: int, hook: str) -> str:
    """The path of a hook point of an attention: "decoder.layers.1.cross_attention.pattern"."""
    return f"{MODULES[site].format(layer)}.{hook}"


def residual_path(site: str, layer: int, hook: str) -> str:
    """The path of a hook point of the residual connection around an attention."""
    (stack, _), attention = STACKS[site], MODULES[site].rpartition(".")[2]
    return f"{stack}.layers.{layer}.around_{attention}.{hook}"


def hook_points(model: nn.Module) -> dict[str, HookPoint]:
    """Every hook point of `model` by its path."""
    return {name: module for name, module in model.named_modules() if isinstance(module, HookPoint)}


@contextmanager
def recorded(model: Hooked, *patterns: str) -> Iterator[dict[str, Tensor]]:
    """Record, by path, the values at the hook points that match one of `patterns`.

    Patterns are shell-like ("*.pattern", "decoder.*"). The values are not detached; a second
    forward pass replaces those of the first. Inside an `edit` block the edited value is recorded.

    Raises `HookError` when a pattern matches no hook point.
    """
    values: dict[str, Tensor] = {}

    def store_as(name: str) -> Action:
        def store(value: Tensor) -> Tensor:
            values[name] = value
            return value

        return store

    points = [point for pattern in patterns for point in matching(model, pattern).items()]
    with _watching({point: store_as(name) for name, point in points}):
        yield values


@contextmanager
def edit(model: Hooked, actions: Mapping[str, Action]) -> Iterator[None]:
    """Replace the values at the matching hook points until the block ends.

    actions: shell-like pattern → a function from the value to the one that replaces it.

    Raises `HookError` when a pattern matches no hook point.
    """
    with _watching(
        {
            point: action
            for pattern, action in actions.items()
            for point in matching(model, pattern).values()
        }
    ):
        yield


def matching(model: Hooked, pattern: str) -> dict[str, HookPoint]:
    """The hook points whose path matches `pattern`, by path. Raises `HookError` without any."""
    points = model.hook_points
    if pattern in points:  # a whole path: no search, since a pass may record hundreds
        return {pattern: points[pattern]}
    found = {name: point for name, point in points.items() if fnmatchcase(name, pattern)}
    if not found:
        raise HookError("no_hook", pattern=pattern)
    return found


@contextmanager
def _watching(actions: Mapping[HookPoint, Action]) -> Iterator[None]:
    outer = _actions.get()
    inner = {point: (*outer.get(point, ()), action) for point, action in actions.items()}
    token = _actions.set({**outer, **inner})
    try:
        yield
    finally:
        _actions.reset(token)
