"""Checks of the options of `trace` that do not depend on the model."""

from collections.abc import Mapping
from typing import Any

from explorer.core.errors import ConfigError
from explorer.core.interventions import Interventions
from explorer.model.head_gates import MeanOutputs

CAPTURES = ("pattern", "full")
"""Amounts of capture: only weights, or also scores, queries, keys, values and head outputs."""


def refuse_capture(capture: object) -> None:
    """Raise `ConfigError` on a value that is not in `CAPTURES`."""
    if not isinstance(capture, str) or capture not in CAPTURES:
        raise ConfigError("bad_capture", capture=capture)


def forces_output(target: str | None, prefix: str | None, force: Mapping[int, int]) -> bool:
    """Whether a caller imposes output tokens. Raises `ConfigError` on two ways at once, or a wrong
    `force`."""
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
    """Raise `ConfigError` unless a number of tokens is None or a whole number of at least 1.

    name: the option's.
    """
    if count is not None and (type(count) is not int or count < 1):
        raise ConfigError("no_whole_number", name=name, got=repr(count), least=1)


def refuse_other_mean_outputs(means: object) -> None:
    """Raise `ConfigError` unless `means` is None or `MeanOutputs`."""
    if means is not None and not isinstance(means, MeanOutputs):
        raise ConfigError("bad_means", got=type(means).__name__)


def refuse_no_input(text: object, pair: object, messages: object) -> None:
    """Raise `ConfigError` unless there is either a text, perhaps with a second one, or messages."""
    if (text is None) == (messages is None) or (messages is not None and pair is not None):
        raise ConfigError("text_or_messages")


def refuse_of_library(pair: object, messages: object, source: object, target: object) -> None:
    """Raise `ConfigError` on options that only models of the library take: a second text, messages,
    a source or target language."""
    if pair is not None:
        raise ConfigError("no_pair")
    if messages is not None:
        raise ConfigError("no_chat_template")
    for name, code in (("source_language", source), ("target_language", target)):
        if code is not None:
            raise ConfigError("no_languages", name=name)


def facts_of_changes(interventions: Interventions, means: MeanOutputs | None) -> dict[str, Any]:
    """Facts of a trace about its interventions; empty without any."""
    if not interventions:
        return {}
    name = means.name if means and interventions.needs_mean_outputs else None
    return {"interventions": list(interventions.texts()), "means": name}


def input_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The input of a trace, from its facts, as options of `trace`."""
    names = ["pair", "source_language", "target_language"]
    names.append("messages" if "messages" in facts else "text")
    return {name: facts[name] for name in names if facts.get(name) is not None}


def refuse_decoding(target: str | None, prefix: str | None, count: int | None) -> None:
    """Raise `ConfigError` on options of decoding, for a model with an encoder alone."""
    if (target, prefix) != (None, None):
        raise ConfigError("no_decoder")
    if count is not None:
        raise ConfigError("no_new_tokens", got=count)
