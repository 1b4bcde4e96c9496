"""Hooks on the modules of a model that threads share: each sees the passes of its own thread."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any, TypeAlias

Hook: TypeAlias = Callable[[Any, Any, Any], Any]
"""(module, first argument, output) → the output to go on with; None = unchanged."""


@contextmanager
def hooked(hooks: Iterable[tuple[Any, Hook]]) -> Iterator[None]:
    """A block in which each module, once it has run in this thread, calls its hook."""
    thread = get_ident()

    def after(hook: Hook, module: Any, given: tuple[Any, ...], *rest: Any) -> Any:
        # A hook that its own thread removes meanwhile is called without the options.
        if get_ident() != thread:
            return None
        options, output = rest
        first = given[0] if given else options.get("hidden_states")
        return hook(module, first, output)

    handles = [
        module.register_forward_hook(partial(after, hook), with_kwargs=True)
        for module, hook in hooks
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
