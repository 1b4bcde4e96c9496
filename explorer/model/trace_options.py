"""Checks of the options of `trace` that do not depend on the model."""

from collections.abc import Mapping
from typing import Any

from explorer.core.errors import ConfigError
from explorer.core.interventions import Interventions
from explorer.model.head_gates import Means

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
    for number in (*force.keys(), *force.values()):
        if not isinstance(number, int):
            raise ConfigError("bad_force", got=f"dict with {number!r}")
    ways = (target is not None, prefix is not None, len(force) > 0)
    if sum(ways) > 1:
        raise ConfigError("two_ways_to_force")
    return any(ways)


def refuse_no_count(name: str, count: object) -> None:
    """Raise `ConfigError` on a number of tokens that is no whole number from 1 on, None excepted.

    name: of the option.
    """
    if count is not None and (type(count) is not int or count < 1):
        raise ConfigError("no_whole_number", name=name, got=repr(count), least=1)


def refuse_no_means(means: object) -> None:
    """Raise `ConfigError` on what are no means of the outputs of heads, None excepted."""
    if means is not None and not isinstance(means, Means):
        raise ConfigError("bad_means", got=type(means).__name__)


def refuse_no_input(text: object, pair: object, messages: object) -> None:
    """Raise `ConfigError` unless there is either a text, perhaps with a second one, or messages."""
    if (text is None) == (messages is None) or (messages is not None and pair is not None):
        raise ConfigError("text_or_messages")


def refuse_of_library(pair: object, messages: object, source: object, target: object) -> None:
    """Raise `ConfigError` on what only models of the library can be given: a second text, messages,
    a language of the text or of the output."""
    if pair is not None:
        raise ConfigError("no_pair")
    if messages is not None:
        raise ConfigError("no_chat_template")
    for name, code in (("source_language", source), ("target_language", target)):
        if code is not None:
            raise ConfigError("no_languages", name=name)


def facts_of_changes(interventions: Interventions, means: Means | None) -> dict[str, Any]:
    """What the facts of a trace say of the interventions in it; nothing without any."""
    if not interventions:
        return {}
    name = means.name if means and interventions.needs_means else None
    return {"interventions": list(interventions.texts()), "means": name}


def input_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a trace was given, from its facts, as options of `trace`."""
    names = ["pair", "source_language", "target_language"]
    names.append("messages" if "messages" in facts else "text")
    return {name: facts[name] for name in names if facts.get(name) is not None}


def refuse_decoding(target: str | None, prefix: str | None, count: int | None) -> None:
    """Raise `ConfigError` on what only a decoder has, asked of a model with an encoder alone."""
    if (target, prefix) != (None, None):
        raise ConfigError("no_decoder")
    if count is not None:
        raise ConfigError("no_new_tokens", got=count)
