"""Hooks on the modules of a model that threads share: each sees the passes of its own thread.

`watch` registers one function on every module, once, when a model is opened. It reads the current
hooks from a context variable, as `hooks.HookPoint` does. Nothing is registered later: torch adds a
hook and its options in two steps, between which another thread may run the module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, TypeAlias

Hook: TypeAlias = Callable[[Any, Any, Any], Any]
"""(module, first argument, output) → the output to go on with; None = unchanged."""

_NOTHING: Mapping[Any, tuple[Hook, ...]] = MappingProxyType({})
_hooks: ContextVar[Mapping[Any, tuple[Hook, ...]]] = ContextVar("hooks", default=_NOTHING)


def watch(model: Any) -> None:
    """Let `hooked` reach the modules of `model`. Once is enough; more often does no harm."""
    for module in model.modules():
        if not _is_watched(module):
            module.register_forward_hook(_after, with_kwargs=True)


@contextmanager
def hooked(hooks: Iterable[tuple[Any, Hook]]) -> Iterator[None]:
    """A block in which each module, once it has run in this thread, calls its hooks in turn.

    The modules must be those of a model given to `watch`.
    """
    current = dict(_hooks.get())
    for module, hook in hooks:
        assert _is_watched(module), type(module)
        current[module] = (*current.get(module, ()), hook)
    token = _hooks.set(current)
    try:
        yield
    finally:
        _hooks.reset(token)


def _after(module: Any, given: tuple[Any, ...], options: Mapping[str, Any], output: Any) -> Any:
    hooks = _hooks.get().get(module, ())
    first = given[0] if given else options.get("hidden_states")
    for hook in hooks:
        changed = hook(module, first, output)
        output = output if changed is None else changed
    return output if hooks else None


def _is_watched(module: Any) -> bool:
    return _after in module._forward_hooks.values()
