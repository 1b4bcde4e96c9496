"""Several interventions at once, from tuples or from their lines of text, and what they mean for a
trace. `core.verbs` declares each kind, `model` carries them out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.core.errors import ConfigError, ExplorerError, InterventionError
from explorer.core.sites import SITES
from explorer.core.verbs import (
    OMISSIONS,
    VERBS,
    Ablation,
    CellEdit,
    Drawing,
    Intervention,
    Keep,
    Omission,
    RowOverride,
    Verb,
    checked,
    examples_of,
    head_name,
    line,
    ranges,
    read,
    read_as,
    word_of,
    words_of,
)

_UNAVOIDABLE = {  # site where a cell was unmasked → the integrity check that must fail then
    "encoder": "padding_changes_nothing",
    "decoder": "cached_equals_full",
    "cross": "padding_changes_nothing",
}

_OPTIONS = {verb.option: verb.kind for verb in VERBS.values()}
"""Option of `trace` → the kind of its interventions, in the order of the lines of a trace."""

_Kind = TypeVar("_Kind", bound=Intervention)


@dataclass(frozen=True, slots=True)
class Interventions:
    """All interventions on a model in one trace, in the order of `VERBS`.

    `of`, `gather` and `parse` make one, and run all checks that need no model.
    """

    every: tuple[Intervention, ...] = ()

    @classmethod
    def gather(cls, **options: Any) -> "Interventions":
        """Interventions from options of `trace`: lists of tuples or lines, in `without` names of
        `OMISSIONS`, in `draw` a tuple or None. If a head is ablated several times, the last one
        counts.

        Raises `InterventionError` on a malformed tuple or line, and on a head both removed and
        kept, `ConfigError` on a part that cannot be left out, and on a temperature or seed out of
        range.
        """
        return cls._in_order(one for name, given in options.items() for one in _given(name, given))

    @classmethod
    def of(cls, interventions: Iterable[Intervention]) -> "Interventions":
        """Interventions in any order: of equal ones, of several drawings and of several removals
        of a head the last.

        Raises `InterventionError` on a head both removed and kept.
        """
        return cls._in_order(dict.fromkeys(interventions))

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Interventions":
        """Interventions from their lines of text, equal ones once.

        Raises `InterventionError` on a line that cannot be read, and as `of` does.
        """
        return cls.of(map(read, texts))

    @classmethod
    def _in_order(cls, interventions: Iterable[Intervention]) -> "Interventions":
        last: dict[object, Intervention] = {}
        for number, one in enumerate(interventions):
            once = _verb(one).once  # of equal ones the last counts
            last[number if once is None else (type(one), *(getattr(one, n) for n in once))] = one
        done = cls(tuple(sorted(last.values(), key=_rank)))
        for one in done.keep:
            if any(
                other[:2] == one[:2] and _overlap(other.head, one.head) for other in done.ablate
            ):
                raise InterventionError("kept_and_removed", head=head_name(*one))
        return done

    def _those(self, wanted: Callable[[Intervention], bool]) -> "Interventions":
        return Interventions(tuple(filter(wanted, self.every)))

    def _all(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        return tuple(one for one in self.every if isinstance(one, kind))

    @property
    def ablate(self) -> tuple[Ablation, ...]:
        return self._all(Ablation)

    @property
    def keep(self) -> tuple[Keep, ...]:
        return self._all(Keep)

    @property
    def edit_mask(self) -> tuple[CellEdit, ...]:
        return self._all(CellEdit)

    @property
    def override_row(self) -> tuple[RowOverride, ...]:
        return self._all(RowOverride)

    @property
    def omit(self) -> tuple[Omission, ...]:
        return self._all(Omission)

    @property
    def draw(self) -> Drawing | None:
        return next(iter(self._all(Drawing)), None)

    def __iter__(self) -> Iterator[Intervention]:
        return iter(self.every)

    def __len__(self) -> int:
        return len(self.every)

    def texts(self) -> tuple[str, ...]:
        """One line each; `parse` reads them back."""
        return tuple(map(line, self))

    def without(self, one: Intervention) -> "Interventions":
        """All but `one`."""
        return self._those(lambda other: other != one)

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `trace` for these interventions."""
        several = {name: self._all(kind) for name, kind in _OPTIONS.items()}
        return several | {"without": self.omitted, "draw": self.draw}

    def removed(self, site: str, layers: int, heads: int) -> dict[tuple[int, int], str]:
        """Replacement of the output of each removed head of a site, "zero" or "mean", by (layer,
        head).

        layers, heads: their numbers at the site. If a head is ablated several times, the last one
        counts.
        """
        every = [(layer, head) for layer in range(layers) for head in range(heads)]
        kept = [one for one in self.keep if one.site == site]
        found = {at: "zero" for at in every if kept and not any(_names(one, *at) for one in kept)}
        for one in self.ablate:
            if one.site == site:
                found |= {at: one.how for at in every if _names(one, *at)}
        return found

    def on_attention(self, site: str, layer: int) -> tuple[list[CellEdit], list[RowOverride]]:
        """The edits of the cells and the rows of one attention."""
        cells = [one for one in self.edit_mask if one.site == site and one.layer in (None, layer)]
        return cells, [row for row in self.override_row if row[:2] == (site, layer)]

    @property
    def on_any_text(self) -> "Interventions":
        """All but those on cells and rows, which are at positions of one text."""
        return self._those(lambda one: not _verb(one).has("index"))

    @property
    def on_heads(self) -> "Interventions":
        """The interventions that change whole heads."""
        return self._those(lambda one: _verb(one).has("site") and not _verb(one).has("index"))

    @property
    def on_cells(self) -> "Interventions":
        """The interventions on cells and rows; they need a text with these positions."""
        return self._those(lambda one: _verb(one).has("index"))

    @property
    def omitted(self) -> tuple[str, ...]:
        """The names of the parts that are left out."""
        return tuple(one.part for one in self.omit)

    @property
    def needs_mean_outputs(self) -> bool:
        """Whether a head is replaced by its mean, which is taken over a batch."""
        return any(one.how == "mean" for one in self.ablate)

    @property
    def counterfactual(self) -> bool:
        """Whether a later position was unmasked; step-by-step decoding cannot attend to it."""
        return "mask" in self.omitted or any(cell.looks_ahead for cell in self.edit_mask)


def refuse_weights_only(facts: Mapping[str, Any]) -> None:
    """Raise `InterventionError` if a model, by its facts, only provides attention weights."""
    if facts.get("weights_only"):
        raise InterventionError("weights_only", family=facts.get("family"))


def expected_errors(facts: Mapping[str, Any]) -> frozenset[str]:
    """The integrity checks that must fail, given the model and the interventions in the `facts` of
    a trace.

    A query that attends to later positions cannot be decoded step by step, and one that attends
    to padding changes with the padding. Malformed facts excuse nothing.
    """
    unmasked = _sites_with_unmasked_cells(stated(facts))
    if _is_without_causal_mask(facts):
        unmasked |= {"decoder"}
    return frozenset(_UNAVOIDABLE[site] for site in unmasked)


def expected_sentence(check: str, facts: Mapping[str, Any]) -> str:
    """The key of the sentence why an integrity check of a trace with these `facts` must fail."""
    leaks = check == _UNAVOIDABLE["decoder"] and _is_without_causal_mask(facts)
    return "player.expected_no_causal_mask" if leaks else f"player.expected_{check}"


def _is_without_causal_mask(facts: Mapping[str, Any]) -> bool:
    """Whether the model of a trace was trained without the causal mask."""
    config = facts.get("config")
    return isinstance(config, Mapping) and config.get("causal") is False


_MOST_LAYERS = 10_000  # that a malformed trace may name


def removed_heads(
    facts: Mapping[str, Any], site: str, layers: int, heads: int
) -> dict[tuple[int, int], str]:
    """`Interventions.removed` from the `facts` of a trace, by (layer of the trace, head).

    Empty if the facts are malformed. layers, heads: numbers in the trace at `site`, which may have
    only some of the model's layers.
    """
    captured = facts.get("captured_layers")
    own = captured.get(site) if isinstance(captured, Mapping) else None
    if not isinstance(own, list) or len(own) != layers:
        own = list(range(layers))
    indices = {layer: index for index, layer in enumerate(own) if isinstance(layer, int)}
    deepest = max(indices, default=0) + 1
    removed = stated(facts).removed(site, min(deepest, _MOST_LAYERS), heads)
    return {
        (indices[layer], head): how for (layer, head), how in removed.items() if layer in indices
    }


def stated(facts: Mapping[str, Any]) -> Interventions:
    """Interventions stated in the facts of a trace, which are untrusted; none if malformed."""
    texts = facts.get("interventions")
    if not isinstance(texts, list | tuple):
        return Interventions()
    try:
        return Interventions.parse(map(str, texts))
    except InterventionError:
        return Interventions()


def _sites_with_unmasked_cells(interventions: Interventions) -> set[str]:
    """Sites in which these interventions let a query attend to a masked cell."""
    if "mask" in interventions.omitted:
        return set(SITES)
    unmasked = {cell.site for cell in interventions.edit_mask if cell.open}
    return unmasked if interventions.counterfactual else unmasked - {"decoder"}


def _names(one: Ablation | Keep, layer: int, head: int) -> bool:
    """Whether an intervention names this head of its site."""
    return one.layer == layer and _overlap(one.head, head)


def _overlap(one: int | None, other: int | None) -> bool:
    """Whether two heads of a layer are the same or one of them is None, which stands for all
    heads."""
    return None in (one, other) or one == other


def _verb(one: Intervention) -> Verb:
    return VERBS[word_of(one)]


def _rank(one: Intervention) -> tuple[int, int]:
    """The place of an intervention among others."""
    part = OMISSIONS.index(one.part) if isinstance(one, Omission) else 0
    return list(_OPTIONS.values()).index(type(one)), part


def _given(name: str, given: Any) -> Iterator[Intervention]:
    """The interventions in an option of `trace`: tuples, or lines, of which the verb may be left
    out; raises as `Interventions.gather`."""
    kind = _OPTIONS[name]
    words = words_of(kind)
    several = isinstance(given, Iterable) and not isinstance(given, str)
    if name == "draw":
        given = () if given is None else (given,)
    elif not several and name == "without":
        given = (given,)
    elif not several:
        facts = {"example": _example(kind), "got": type(given).__name__}
        raise InterventionError("no_list_of_interventions", **facts)
    for one in given:
        try:
            yield read_as(words, one) if isinstance(one, str) else checked(kind, one)
        except ValueError:
            raise _malformed(kind, one) from None


def _malformed(kind: type[Intervention], got: Any) -> ExplorerError:
    """The error on what is no intervention of this kind."""
    if kind is Omission:
        return ConfigError("bad_omission", got=got, known=", ".join(OMISSIONS))
    if kind is Drawing:
        return ConfigError("bad_drawing", **ranges("draw"), got=repr(got)[:80])
    text = VERBS[words_of(kind)[0]].examples[0]
    facts = {"fields": ", ".join(kind._fields), "example": _example(kind), "text": text}
    return InterventionError("bad_intervention_tuple", **facts, got=repr(got)[:80])


def _example(kind: type[Intervention]) -> str:
    """A tuple of this kind, without the fields that may be left out."""
    fields = read(examples_of(words_of(kind)[0])[0])[: -len(kind._field_defaults) or None]
    return repr(fields).replace("'", '"')
