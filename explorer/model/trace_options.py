"""`trace`, its options, and the checks of them that do not depend on the model."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from explorer.core.errors import ConfigError
from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.core.trace_size import LayerChoice, Layers
from explorer.model.actions import MeanOutputs
from explorer.model.greedy_decoding import NO_TOKENS

CAPTURES = ("pattern", "full")
"""Amounts of capture: only weights, or also scores, queries, keys, values and head outputs."""


CHECKS = ("once", "always", "never")
"""How often the integrity of a trace of the library is measured by passes of its own."""

AFTER_PROMPT = 32
"""The most tokens that a decoder alone writes after a prompt unless told otherwise."""


def refuse_options(capture: object, means: object, check: object, **counts: object) -> None:
    """Raise `ConfigError` on a capture that is not in `CAPTURES`, on a check not in `CHECKS`, on
    means that are no `MeanOutputs`, and on a number of tokens that is neither None nor a whole
    number of at least 1.

    counts: these numbers, by the names of their options.
    """
    if not isinstance(capture, str) or capture not in CAPTURES:
        raise ConfigError("bad_capture", capture=capture)
    if not isinstance(check, str) or check not in CHECKS:
        raise ConfigError("bad_check", check=check)
    for name, count in counts.items():
        if count is not None and (type(count) is not int or count < 1):
            raise ConfigError("no_whole_number", name=name, got=repr(count), least=1)
    if means is not None and not isinstance(means, MeanOutputs):
        raise ConfigError("bad_means", got=type(means).__name__)


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


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The options of one trace, see `TracedModel.trace`; `choice` is of layers and sites."""

    text: str | None
    pair: str | None
    messages: Sequence[Mapping[str, str]] | None
    source_language: str | None
    target_language: str | None
    target: str | None
    prefix: str | None
    force: Mapping[int, int]
    pad_to: int | None
    max_new_tokens: int | None
    capture: str
    choice: LayerChoice
    interventions: Interventions
    means: MeanOutputs | None = None
    check: str = CHECKS[0]

    @classmethod
    def of_text(cls, text: str, target: str | None) -> Self:
        """Those of `trace(text, target=target)`."""
        given = (text, None, None, None, None, target, None, NO_TOKENS)
        return cls(*given, None, None, CAPTURES[0], LayerChoice(), Interventions())

    @property
    def full(self) -> bool:
        """Whether scores and vectors are captured too."""
        return self.capture == "full"

    @property
    def forces(self) -> bool:
        """Whether a caller imposes output tokens."""
        return forces_output(self.target, self.prefix, self.force)

    @property
    def shape(self) -> Hashable:
        """All that two calls of `trace` have in common if they differ in their texts and tokens
        alone."""
        given = (self.pair, self.messages, self.target, self.prefix, self.force or None)
        languages = (self.source_language, self.target_language)
        means = None if self.means is None else self.means.name
        used = tuple(one is not None for one in given)
        return used, languages, self.capture, self.choice, self.interventions, means

    @property
    def changes(self) -> dict[str, Any]:
        """Facts of the trace about its interventions; empty without any."""
        if not self.interventions:
            return {}
        name = self.means.name if self.means and self.interventions.needs_mean_outputs else None
        return {"interventions": list(self.interventions.texts()), "means": name}


class TracedModel(Protocol):
    """A model that can be traced."""

    def trace(
        self,
        text: str | None = None,
        *,
        pair: str | None = None,
        messages: Sequence[Mapping[str, str]] | None = None,
        source_language: str | None = None,
        target_language: str | None = None,
        target: str | None = None,
        prefix: str | None = None,
        force: Mapping[int, int] = NO_TOKENS,
        pad_to: int | None = None,
        max_new_tokens: int | None = None,
        capture: str = "pattern",
        layers: Layers = None,
        sites: Iterable[str] | None = None,
        ablate: Iterable[Sequence[Any] | str] = (),
        keep: Iterable[Sequence[Any] | str] = (),
        edit_mask: Iterable[Sequence[Any] | str] = (),
        override_row: Iterable[Sequence[Any] | str] = (),
        means: MeanOutputs | None = None,
        without: Iterable[str] = (),
        draw: Sequence[float | None] | None = None,
        check: str = CHECKS[0],
    ) -> Trace:
        """Decode `text` greedily, then capture everything in one pass over the result.

        text: the source; for a decoder-only model the prompt; for an encoder-only one the whole
            text, in which the model fills in its mask tokens.
        target: the whole output, for teacher forcing.
        prefix: the beginning of the output; the rest is decoded.
        force: step (1, 2, …) → the id its token must have; the other steps are decoded. Step t
            follows row t − 1. In a decoder-only model, target and prefix continue the prompt, whose
            own steps are fixed. In an encoder-only model, force maps position + 1 of a mask token
            to the id that fills it; nothing else depends on these ids.
        pad_to: number of tokens to which the text is padded, as in a batch with longer ones: at the
            right, but at the left in a decoder-only model, which continues the text.
        max_new_tokens: the most tokens to decode; None = 32 after a prompt, else the number of
            positions of a model trained here, or 128. A classifier with a decoder decodes none;
            for an encoder alone it must be None.
        capture: "pattern", or "full" for scores, queries, keys, values and head outputs too.
        layers: numbers of the layers to capture; None = all, "fit" = as many of the first ones as
            fit into a trace; `Trace.layer_numbers` has the captured ones.
        sites: attention paths to capture, of `SITES`; None = all.
        ablate: `Ablation`s or tuples such as ("cross", 1, 2): heads whose output before W_O
            becomes zero or, with "mean" as a fourth item, its mean in `means`; None as head
            stands for all heads of the layer. Heads are query heads.
        keep: heads, or None as in `ablate`; the other heads of their sites are removed.
        edit_mask: `CellEdit`s, cells to mask or unmask.
        override_row: `RowOverride`s, rows of weights to set, at most one weight for each key.
            In these four, a text stands for a tuple, as links and the command line write it:
            "cross.1.2 mean", "cross.1.*", "unmask decoder.0.1 2 5"; see `core.verbs`.
        means: of the outputs of all heads; only for ablation by the mean.
        draw: temperature and seed, such as (0.8, 7): each token is drawn from softmax(logits /
            temperature). The same seed draws the same tokens. With k, or None, and p: (0.8, 7, 40,
            0.9) draws from the 40 most probable tokens, and of these from the most probable ones
            that have 0.9 of the probability together. Or the text of these: "0.8 7 k=40 p=0.9".

        Only for models of the library transformers:
        pair: a second text, for a model that decodes nothing. The tokenizer joins both; a model
            with segments gets the segment of each token.
        messages: a chat instead of a text, such as [{"role": "user", "content": "Hi"}]; the
            model's own template makes the text from them.
        source_language, target_language: as in `in_languages`.
        check: when further passes measure that the weights are the library's own, that capturing
            changes nothing, nor padding, and that decoding equals one full pass: "once", on the
            first text of each kind of call (options and interventions); "always"; or "never".
            `integrity` has no row for what was not measured. A model trained here is always
            checked.

        Only for models trained here:
        without: parts of the model to leave out in every layer, of `OMISSIONS`: "scaling", "mask",
            "positions".

        Raises `VocabularyError` on a text, token or step that does not exist or is too long,
        `ConfigError` on a padding, capture, layer or site that does not exist and on an option that
        the model does not have, `TraceSizeError` on more attention than a trace may have,
        `InterventionError` and `MaskError` on interventions that this model or text does not allow.
        """
        refuse_options(capture, means, check, pad_to=pad_to, max_new_tokens=max_new_tokens)
        given = (text, pair, messages, source_language, target_language, target, prefix, force)
        choice = LayerChoice.of(layers, sites)
        changes = Interventions.gather(
            ablate=ablate,
            keep=keep,
            edit_mask=edit_mask,
            override_row=override_row,
            without=without,
            draw=draw,
        )
        size = (pad_to, max_new_tokens, capture, choice)
        return self._traced(TraceOptions(*given, *size, changes, means, check))

    def _traced(self, options: TraceOptions) -> Trace:
        """The trace with these options, which are checked as far as `trace` can."""
