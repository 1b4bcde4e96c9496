"""Checks of the options of `trace` that do not depend on the model."""

from collections.abc import Mapping

from explorer.core.errors import ConfigError

CAPTURES = ("pattern", "full")
"""What a trace can have: the weights, or scores, queries, keys, values and head outputs too."""


def refuse_capture(capture: object) -> None:
    """Raise `ConfigError` on a capture that does not exist."""
    if not isinstance(capture, str) or capture not in CAPTURES:
        raise ConfigError("bad_capture", capture=capture)


def forces_output(target: str | None, prefix: str | None, force: Mapping[int, int]) -> bool:
    """Whether a caller imposes output. Raises `ConfigError` when in two ways at once."""
    if not isinstance(force, Mapping):
        raise ConfigError("bad_force", got=type(force).__name__)
    ways = (target is not None, prefix is not None, len(force) > 0)
    if sum(ways) > 1:
        raise ConfigError("two_ways_to_force")
    return any(ways)


def refuse_new_tokens(count: object) -> None:
    """Raise `ConfigError` on a number of tokens to decode that is none, None excepted."""
    if count is not None and (type(count) is not int or count < 1):
        raise ConfigError("bad_new_tokens", got=count)


def refuse_decoding(target: str | None, prefix: str | None, count: int | None) -> None:
    """Raise `ConfigError` on what only a decoder has, asked of a model with an encoder alone."""
    if (target, prefix) != (None, None):
        raise ConfigError("no_decoder")
    if count is not None:
        raise ConfigError("no_new_tokens", got=count)
