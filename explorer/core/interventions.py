"""Interventions: changes in a model while it runs, to heads, cells of masks, rows of weights, parts
of the whole model or the way it chooses tokens.

Each has one line of text, for links and facts:

    ablate cross.1.2            the output of the head becomes zero
    ablate cross.1.2 mean       it becomes its mean over a named batch
    ablate cross.1.*            the same for all heads of a layer
    keep cross.1.2              the other heads of its site, unless kept too, become zero
    close cross.1.2 3 4         query 3 may not attend to key 4
    open decoder.*.* 2 5        query 2 may attend to key 5, in every layer and head
    row cross.1.2 3 0.5,0.5     the weights of query 3, made to sum to 1 over its unmasked keys;
                                spaces between them are read, too
    omit mask                   the whole model runs without a part, see `OMISSIONS`
    draw 0.8 7                  each token is drawn at temperature 0.8 with seed 7
    draw 0.8 7 k=40 p=0.9       only from the 40 most probable ones, and of these from the most
                                probable ones that have 0.9 of the probability together

A typed line may begin with mask, unmask or override-row: the command line and `trace` use these
words for the close, open and row of links.

A head is written site.layer.head, counted from 0. `model.actions` carries them out.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from explorer.core.errors import ConfigError, InterventionError
from explorer.core.number_format import typed_number
from explorer.core.sites import SITES, Head

OMISSIONS = ("scaling", "mask", "positions")
"""Parts that can be left out of a Transformer to see their effect: the division of the scores by √K
(§3.2.1), all masks (§3.2.3), the position vectors (§3.5)."""

TEMPERATURES = (0.1, 5.0)
"""The lowest and the highest at which tokens are drawn."""

LARGEST_SEED = 9_999

LARGEST_K = 9_999
"""The most tokens that top-k keeps."""

_UNAVOIDABLE = {  # site where a cell was unmasked → the integrity check that must fail then
    "encoder": "padding_changes_nothing",
    "decoder": "cached_equals_full",
    "cross": "padding_changes_nothing",
}


class Verb(StrEnum):
    """The first word of an intervention's line."""

    ABLATE = "ablate"
    KEEP = "keep"
    MASK = "close"
    UNMASK = "open"
    ROW = "row"
    OMIT = "omit"
    DRAW = "draw"

    @classmethod
    def _missing_(cls, value: object) -> "Verb | None":
        return _TYPED.get(value)


_TYPED: dict[object, Verb] = {
    "mask": Verb.MASK,
    "unmask": Verb.UNMASK,
    "override-row": Verb.ROW,
}
"""The words of the command line for those of links."""

_WORDS = {verb: word for word, verb in _TYPED.items()}


class Ablation(NamedTuple):
    """Replace the output of a head, before the output projection, by zero or by its mean; None as
    head stands for all heads of the layer."""

    site: str
    layer: int
    head: int | None
    how: Literal["zero", "mean"] = "zero"

    @property
    def verb(self) -> Verb:
        return Verb.ABLATE

    def __str__(self) -> str:
        more = "" if self.how == "zero" else f" {self.how}"
        return f"{self.verb} {head_name(*self[:3])}{more}"


class Keep(NamedTuple):
    """Remove the other heads of the site, unless they are kept too; None as head stands for all
    heads of the layer."""

    site: str
    layer: int
    head: int | None

    @property
    def verb(self) -> Verb:
        return Verb.KEEP

    def __str__(self) -> str:
        return f"{self.verb} {head_name(*self)}"


class CellEdit(NamedTuple):
    """Mask a cell, or unmask it; None as layer or head stands for all of them."""

    site: str
    layer: int | None
    head: int | None
    query: int
    key: int
    open: bool = False

    @property
    def verb(self) -> Verb:
        return Verb.UNMASK if self.open else Verb.MASK

    @property
    def looks_ahead(self) -> bool:
        """Whether the cell lets a query of the target attend to a later position."""
        return self.open and self.site == "decoder" and self.key > self.query

    def __str__(self) -> str:
        return f"{self.verb} {head_name(*self[:3])} {self.query} {self.key}"


class RowOverride(NamedTuple):
    """Set the weights of one query in one head.

    weights: by key from key 0 on, finite, none negative, one above 0; keys without one get 0.
        Weights on masked cells are dropped, the others are made to sum to 1.
    """

    site: str
    layer: int
    head: int
    query: int
    weights: tuple[float, ...]

    @property
    def verb(self) -> Verb:
        return Verb.ROW

    def __str__(self) -> str:
        weights = ",".join(map(_written, self.weights))
        return f"{self.verb} {Head(*self[:3])} {self.query} {weights}"


class Omission(NamedTuple):
    """Leave a part out of every layer, one of `OMISSIONS`."""

    part: str

    @property
    def verb(self) -> Verb:
        return Verb.OMIT

    def __str__(self) -> str:
        return f"{self.verb} {self.part}"


class Drawing(NamedTuple):
    """Draw each token from softmax(logits / temperature), not the most probable one.

    temperature: from `TEMPERATURES[0]` to `TEMPERATURES[1]`. seed: from 0 to `LARGEST_SEED`; the
        same one draws the same tokens.
    k: top-k, from 1 to `LARGEST_K`: only the k most probable tokens can be drawn (Fan et al. 2018,
        arXiv 1805.04833).
    p: top-p, above 0 and at most 1: of these only the fewest that have p of the probability
        together, the most probable ones (Holtzman et al. 2020, arXiv 1904.09751).
    """

    temperature: float
    seed: int
    k: int | None = None
    p: float | None = None

    @property
    def verb(self) -> Verb:
        return Verb.DRAW

    def __str__(self) -> str:
        k = "" if self.k is None else f" k={self.k}"
        p = "" if self.p is None else f" p={_written(self.p)}"
        return f"{self.verb} {_written(self.temperature)} {self.seed}{k}{p}"


def _written(number: float) -> str:
    return f"{number!r}".removesuffix(".0")


OnAttention: TypeAlias = Ablation | Keep | CellEdit | RowOverride
Intervention: TypeAlias = OnAttention | Omission | Drawing

_Kind = TypeVar("_Kind", Ablation, Keep, CellEdit, RowOverride)


@dataclass(frozen=True, slots=True)
class Interventions:
    """All interventions on a model in one trace.

    `of`, `gather` and `parse` make one, and run all checks that need no model.
    """

    ablate: tuple[Ablation, ...] = ()
    keep: tuple[Keep, ...] = ()
    edit_mask: tuple[CellEdit, ...] = ()
    override_row: tuple[RowOverride, ...] = ()
    omit: tuple[Omission, ...] = ()
    draw: Drawing | None = None

    @classmethod
    def gather(
        cls,
        ablate: Iterable[Sequence[Any]] = (),
        keep: Iterable[Sequence[Any]] = (),
        edit_mask: Iterable[Sequence[Any]] = (),
        override_row: Iterable[Sequence[Any]] = (),
        without: Iterable[str] = (),
        draw: Sequence[float | None] | None = None,
    ) -> "Interventions":
        """Interventions from tuples and, in `without`, names of `OMISSIONS`. If a head is ablated
        several times, the last one counts.

        Raises `InterventionError` on a malformed tuple, and on a head both removed and kept,
        `ConfigError` on a part that cannot be left out, and on a temperature or seed out of range.
        """
        removed = {one[:3]: one for one in _all_checked(Ablation, ablate)}
        kept = tuple(_all_checked(Keep, keep))
        for one in kept:
            if any(other[:2] == one[:2] and _overlap(other[2], one.head) for other in removed):
                raise InterventionError("kept_and_removed", head=head_name(*one))
        return cls(
            tuple(removed.values()),
            kept,
            tuple(_all_checked(CellEdit, edit_mask)),
            tuple(map(_checked_row, _all_checked(RowOverride, override_row))),
            _omissions(without),
            None if draw is None else _checked_drawing(draw),
        )

    @classmethod
    def of(cls, interventions: Iterable[Intervention]) -> "Interventions":
        """Interventions in any order, equal ones once, the last drawing; raises as `gather`."""
        distinct = list(dict.fromkeys(interventions))
        return cls.gather(
            ablate=[one for one in distinct if isinstance(one, Ablation)],
            keep=[one for one in distinct if isinstance(one, Keep)],
            edit_mask=[one for one in distinct if isinstance(one, CellEdit)],
            override_row=[one for one in distinct if isinstance(one, RowOverride)],
            without=[one.part for one in distinct if isinstance(one, Omission)],
            draw=next((one for one in reversed(distinct) if isinstance(one, Drawing)), None),
        )

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Interventions":
        """Interventions from their lines of text, equal ones once.

        Raises `InterventionError` on a line that cannot be read, and as `gather` does.
        """
        return cls.of(map(_read, texts))

    def __iter__(self) -> Iterator[Intervention]:
        yield from self.ablate
        yield from self.keep
        yield from self.edit_mask
        yield from self.override_row
        yield from self.omit
        if self.draw:
            yield self.draw

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def texts(self) -> tuple[str, ...]:
        """One line each; `parse` reads them back."""
        return tuple(map(str, self))

    def without(self, one: Intervention) -> "Interventions":
        """All but `one`."""
        return Interventions.of(other for other in self if other != one)

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `trace` for these interventions."""
        names = ("ablate", "keep", "edit_mask", "override_row", "draw")
        return {name: getattr(self, name) for name in names} | {"without": self.omitted}

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
        return replace(self, edit_mask=(), override_row=())

    @property
    def on_heads(self) -> "Interventions":
        """The interventions that remove whole heads."""
        return replace(self.on_any_text, omit=(), draw=None)

    @property
    def on_cells(self) -> "Interventions":
        """The interventions on cells and rows; they need a text with these positions."""
        return replace(self, ablate=(), keep=(), omit=(), draw=None)

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
    config = facts.get("config")
    if isinstance(config, Mapping) and config.get("causal") is False:
        unmasked |= {"decoder"}
    return frozenset(_UNAVOIDABLE[site] for site in unmasked)


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


def _read(text: str) -> Intervention:
    """The intervention of one line. Raises `InterventionError`."""
    try:
        word, name, *rest = text.split()
        verb = Verb(word)
        if (verb, rest) == (Verb.OMIT, []) and name in OMISSIONS:
            return Omission(name)
        if verb == Verb.DRAW:
            return _read_drawing(name, *rest)
        site, layer, head = name.split(".")
        match verb, rest:
            case Verb.ABLATE, [] | ["zero"] | ["mean"]:
                return _checked(Ablation, (site, _number(layer), _or_all(head), *rest))
            case Verb.KEEP, []:
                return _checked(Keep, (site, _number(layer), _or_all(head)))
            case ((Verb.MASK | Verb.UNMASK), [query, key]):
                where = (site, _or_all(layer), _or_all(head), _number(query), _number(key))
                return _checked(CellEdit, (*where, verb == Verb.UNMASK))
            case Verb.ROW, [query, *words] if weights := " ".join(words).replace(",", " ").split():
                given = tuple(map(float, weights))
                row = (site, _number(layer), _number(head), _number(query), given)
                return _checked_row(_checked(RowOverride, row))
    except ValueError:
        pass
    raise InterventionError("bad_intervention", text=text[:80])


def _read_drawing(*words: str) -> Drawing:
    """The drawing of a temperature, a seed and perhaps k=… and p=…; `InterventionError` names the
    ranges."""
    try:
        temperature, seed, *rest = words
        k = _number(rest.pop(0)[2:]) if rest and rest[0].startswith("k=") else None
        p = float(rest.pop(0)[2:]) if rest and rest[0].startswith("p=") else None
        if rest:
            raise ValueError
        return _checked_drawing((float(temperature), _number(seed), k, p))
    except (ValueError, ConfigError):
        raise InterventionError("bad_drawing", **_drawing_facts(" ".join(words))) from None


def _drawing_facts(got: str) -> dict[str, str | int]:
    """What the sentence on a wrong drawing says."""
    lowest, highest = TEMPERATURES
    return {
        "lowest": f"{lowest:g}",
        "highest": f"{highest:g}",
        "most": LARGEST_SEED,
        "most_k": LARGEST_K,
        "got": got[:80],
    }


def _or_all(part: str) -> int | None:
    return None if part == "*" else _number(part)


def _number(part: str) -> int:
    """Whole number in a text. Raises `ValueError` on anything else.

    A negative number is accepted here: the check against the model refuses it.
    """
    if (number := typed_number(part.removeprefix("-"))) is None:
        raise ValueError
    return -number if part.startswith("-") else number


def typed(one: Intervention) -> str:
    """Line of an intervention in the words of the command line."""
    _, _, rest = str(one).partition(" ")
    return f"{_WORDS.get(one.verb, one.verb)} {rest}"


def head_name(site: str, layer: int | None, head: int | None) -> str:
    """Name of a head in a line of text, such as "cross.1.2"; "*" stands for all layers or heads."""
    return ".".join([site, *("*" if part is None else str(part) for part in (layer, head))])


def _names(one: Ablation | Keep, layer: int, head: int) -> bool:
    """Whether an intervention names this head of its site."""
    return one.layer == layer and _overlap(one.head, head)


def _overlap(one: int | None, other: int | None) -> bool:
    """Whether two heads of a layer are the same or one of them is None, which stands for all
    heads."""
    return None in (one, other) or one == other


def _omissions(names: Iterable[str]) -> tuple[Omission, ...]:
    """The parts with these names, in the order of `OMISSIONS`. Raises `ConfigError` on other
    names."""
    several = isinstance(names, Iterable) and not isinstance(names, str)
    given = tuple(names) if several else (names,)
    for name in given:
        if name not in OMISSIONS:
            raise ConfigError("bad_omission", got=name, known=", ".join(OMISSIONS))
    return tuple(Omission(name) for name in OMISSIONS if name in given)


def _checked_drawing(given: Sequence[float | None]) -> Drawing:
    """Raises `ConfigError` unless it is a temperature, a seed and perhaps k and p within their
    ranges; None = neither."""
    lowest, highest = TEMPERATURES
    several = isinstance(given, Sequence) and not isinstance(given, str) and len(given) <= 4
    numbers = tuple(map(_plain, given)) if several else ()
    match (*numbers, None, None)[:4]:
        case (
            float() | int() as temperature,
            int() as seed,
            int() | None as k,
            float() | int() | None as p,
        ) if (
            not any(isinstance(number, bool) for number in numbers)
            and lowest <= temperature <= highest
            and 0 <= seed <= LARGEST_SEED
            and (k is None or 1 <= k <= LARGEST_K)
            and (p is None or 0 < p <= 1)
        ):
            return Drawing(float(temperature), seed, k, None if p is None else float(p))
    raise ConfigError("bad_drawing", **_drawing_facts(repr(given)))


def _all_checked(kind: type[_Kind], given: Iterable[Sequence[Any]]) -> Iterator[_Kind]:
    """Each of `given` as an intervention of `kind`.

    Raises `InterventionError`, also if `given` is no list of them.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        _, example = _EXAMPLES[kind]
        facts = {"example": example, "got": type(given).__name__}
        raise InterventionError("no_list_of_interventions", **facts)
    for parts in given:
        yield _checked(kind, parts)


def _checked(kind: type[_Kind], parts: Sequence[Any]) -> _Kind:
    """`parts` as an intervention of `kind`. Raises `InterventionError` if they are malformed."""
    try:
        one = kind(*map(_plain, parts))
    except TypeError:
        raise _malformed(kind, parts) from None
    if not isinstance(one.site, str) or one.site not in SITES:
        raise InterventionError("no_such_site", site=one.site, sites=", ".join(SITES))
    numbers: list[int | None] = (
        [] if one.layer is None and isinstance(one, CellEdit) else [one.layer]
    )
    if one.head is not None or isinstance(one, RowOverride):
        numbers.append(one.head)
    if isinstance(one, CellEdit | RowOverride):
        numbers.append(one.query)
    if isinstance(one, CellEdit):
        numbers.append(one.key)
    if isinstance(one, Ablation):
        known = isinstance(one.how, str) and one.how in ("zero", "mean")
    else:
        known = not isinstance(one, CellEdit) or isinstance(one.open, bool)
    if not known or not all(type(number) is int for number in numbers):
        raise _malformed(kind, tuple(one))
    return one


_EXAMPLES: dict[type[OnAttention], tuple[str, str]] = {
    Ablation: ("site, layer, head, how", '("cross", 1, 2)'),
    Keep: ("site, layer, head", '("cross", 1, 2)'),
    CellEdit: ("site, layer, head, query, key, unmask", '("cross", 1, 2, 3, 0)'),
    RowOverride: ("site, layer, head, query, weights", '("cross", 1, 2, 3, (0.5, 0.5))'),
}
"""Kind → the field names of its tuple, and an example; `how` and `unmask` may be left out."""


def _malformed(kind: type[_Kind], parts: object) -> InterventionError:
    """The error for a malformed tuple, naming the fields of `kind`."""
    fields, example = _EXAMPLES[kind]
    facts = {"fields": fields, "example": example, "got": repr(parts)[:80]}
    return InterventionError("bad_intervention_tuple", **facts)


def _plain(part: Any) -> Any:
    """Convert a NumPy integer, such as one from a loop over an array, to a Python integer. Anything
    else is returned unchanged."""
    return int(part) if isinstance(part, Integral) and not isinstance(part, bool) else part


def _checked_row(row: RowOverride) -> RowOverride:
    """`row` with its weights as floats. Raises `InterventionError` if they are not a valid row."""
    try:
        weights = tuple(map(float, row.weights))
    except (TypeError, ValueError):
        weights = ()
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise InterventionError("bad_row", query=row.query)
    return row._replace(weights=weights)
