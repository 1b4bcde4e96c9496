"""What can be done to a model while it runs, in words: remove heads, edit cells, set rows.

Every intervention has one line of text, for addresses, chips, facts and the command line:

    ablate cross.1.2            the head's output becomes zero
    ablate cross.1.2 mean       … becomes its mean over a named batch
    keep cross.1.2              of all heads of its site, only the kept ones stay
    close cross.1.2 3 4         query 3 may no longer attend to key 4
    open decoder.*.* 2 5        it may, in every layer and head
    row cross.1.2 3 0.5,0.5     the weights of query 3, renormalised over its open keys

A head is written site.layer.head, counted from 0. `explorer.surgery` carries them out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, TypeAlias

from explorer.core.errors import InterventionError

SITES = ("encoder", "decoder", "cross")

_OR_ALL = ("layer", "head")
_WHOLE = (*_OR_ALL, "query", "key")  # counted from 0

_UNAVOIDABLE = {  # site in which a cell was opened → the integrity check that must differ then
    "encoder": "padding_changes_nothing",
    "decoder": "cached_equals_full",
    "cross": "padding_changes_nothing",
}


class Head(NamedTuple):
    """One head, named; plain tuples (site, layer, head) will do wherever one is asked for."""

    site: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.site}.{self.layer}.{self.head}"


class Ablation(NamedTuple):
    """A head whose output before the output projection is replaced: by zero, or by its mean."""

    site: str
    layer: int
    head: int
    how: Literal["zero", "mean"] = "zero"

    def __str__(self) -> str:
        more = "" if self.how == "zero" else f" {self.how}"
        return f"ablate {self.site}.{self.layer}.{self.head}{more}"


class CellEdit(NamedTuple):
    """A cell of a mask, closed or opened; None as layer or head stands for all of them."""

    site: str
    layer: int | None
    head: int | None
    query: int
    key: int
    open: bool = False

    def __str__(self) -> str:
        verb = "open" if self.open else "close"
        layer, head = ("*" if part is None else part for part in (self.layer, self.head))
        return f"{verb} {self.site}.{layer}.{head} {self.query} {self.key}"


class RowOverride(NamedTuple):
    """The weights of one query in one head: finite, none negative, one above 0.

    weights: by key, from key 0 on; keys without one get 0. What lies on closed cells is
    dropped, the rest is made to sum to 1.
    """

    site: str
    layer: int
    head: int
    query: int
    weights: tuple[float, ...]

    def __str__(self) -> str:
        weights = ",".join(f"{weight!r}".removesuffix(".0") for weight in self.weights)
        return f"row {self.site}.{self.layer}.{self.head} {self.query} {weights}"


Intervention: TypeAlias = Ablation | CellEdit | RowOverride | Head
"""`Head` alone: keep it."""


@dataclass(frozen=True, slots=True)
class Interventions:
    """All that is done to a model in one trace, in the order it is done.

    Make one with `gather` or `parse`, which check what can be checked without a model.
    """

    ablate: tuple[Ablation, ...] = ()
    keep: tuple[Head, ...] = ()
    edit_mask: tuple[CellEdit, ...] = ()
    override_row: tuple[RowOverride, ...] = ()

    @classmethod
    def gather(
        cls,
        ablate: Iterable[Sequence[Any]] = (),
        keep: Iterable[Sequence[Any]] = (),
        edit_mask: Iterable[Sequence[Any]] = (),
        override_row: Iterable[Sequence[Any]] = (),
    ) -> "Interventions":
        """Interventions from tuples. Raises `InterventionError` on what none can be."""
        removed = {one[:3]: one for one in (_made(Ablation, one) for one in ablate)}  # last wins
        kept = tuple(_made(Head, one) for one in keep)
        for head in kept:
            if tuple(head) in removed:
                raise InterventionError("kept_and_removed", head=head)
        return cls(
            tuple(removed.values()),
            kept,
            tuple(_made(CellEdit, one) for one in edit_mask),
            tuple(_made(RowOverride, one) for one in override_row),
        )

    @classmethod
    def parse(cls, texts: Iterable[str]) -> "Interventions":
        """Interventions from their lines of text, repeated ones once.

        Raises `InterventionError` on a line that cannot be read.
        """
        found: dict[str, list[Any]] = {field.name: [] for field in fields(cls)}
        for text in dict.fromkeys(texts):
            name, one = _read(text)
            found[name].append(one)
        return cls.gather(**found)

    def texts(self) -> tuple[str, ...]:
        """One line each; `parse` reads them back."""
        kept = tuple(f"keep {head}" for head in self.keep)
        others = (*self.edit_mask, *self.override_row)
        return (*map(str, self.ablate), *kept, *map(str, others))

    def united(self, other: "Interventions") -> "Interventions":
        """These and `other`, repeated ones once; of two ablations of a head the one of `other`.

        Raises `InterventionError` when a head is both kept and removed.
        """
        fields_of = {
            field.name: dict.fromkeys((*getattr(self, field.name), *getattr(other, field.name)))
            for field in fields(self)
        }
        return Interventions.gather(**fields_of)

    def without(self, other: "Interventions") -> "Interventions":
        """These, except those in `other`."""
        left = {
            field.name: tuple(
                one for one in getattr(self, field.name) if one not in getattr(other, field.name)
            )
            for field in fields(self)
        }
        return Interventions(**left)

    def singly(self) -> tuple["Interventions", ...]:
        """One `Interventions` for each, in the order of `texts`."""
        return tuple(
            Interventions(**{field.name: (one,)})
            for field in fields(self)
            for one in getattr(self, field.name)
        )

    def options(self) -> dict[str, Any]:
        """The same as keyword arguments of `ExplorableModel.trace`."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        """How many there are; without any the object is false."""
        return sum(len(getattr(self, field.name)) for field in fields(self))

    @property
    def needs_means(self) -> bool:
        """Whether a head is removed by its mean, which is over a batch."""
        return any(one.how == "mean" for one in self.ablate)

    @property
    def counterfactual(self) -> bool:
        """Whether a later position was opened: no decoding, one token at a time, can see it."""
        return any(cell.open and _looks_ahead(cell) for cell in self.edit_mask)


def expected_errors(facts: Mapping[str, Any]) -> frozenset[str]:
    """The integrity checks that must differ after what `facts` say was done to the model.

    A query that sees what comes later cannot be decoded step by step; one that sees padding
    is changed by padding.
    """
    texts = facts.get("interventions", ())
    try:
        done = Interventions.parse(map(str, texts) if isinstance(texts, list | tuple) else ())
    except InterventionError:
        return frozenset()  # written by another hand: nothing is excused
    opened = {cell.site for cell in done.edit_mask if cell.open}
    if not done.counterfactual:
        opened -= {"decoder"}
    return frozenset(_UNAVOIDABLE[site] for site in opened)


def _looks_ahead(cell: CellEdit) -> bool:
    """Whether it lets a query of the target see what comes after it."""
    return cell.site == "decoder" and cell.key > cell.query


def _read(text: str) -> tuple[str, tuple[Any, ...]]:
    """The field of `Interventions` one line belongs to, and what it says."""
    try:
        verb, head, *rest = text.split()
        site, layer, place = head.split(".")
        match verb, rest:
            case "ablate", [] | ["zero"] | ["mean"]:
                return "ablate", (site, int(layer), int(place), *rest)
            case "keep", []:
                return "keep", (site, int(layer), int(place))
            case (("close" | "open"), [query, key]):
                where = (site, _or_all(layer), _or_all(place))
                return "edit_mask", (*where, int(query), int(key), verb == "open")
            case "row", [query, weights]:
                given = tuple(map(float, weights.split(",")))
                return "override_row", (site, int(layer), int(place), int(query), given)
    except ValueError:
        pass
    raise InterventionError("bad_intervention", text=text[:80])


def _or_all(part: str) -> int | None:
    return None if part == "*" else int(part)


def _made(kind: Any, parts: Sequence[Any]) -> Any:
    """`parts` as a `kind`, refused where they are none."""
    try:
        one = kind(*parts)
    except TypeError:
        raise InterventionError("bad_intervention", text=str(parts)[:80]) from None
    if one.site not in SITES:
        raise InterventionError("no_such_site", site=one.site, sites=", ".join(SITES))
    whole = {name: part for name, part in one._asdict().items() if name in _WHOLE}
    if kind is CellEdit:
        whole = {
            name: 0 if part is None and name in _OR_ALL else part for name, part in whole.items()
        }
    odd = isinstance(one, Ablation) and one.how not in ("zero", "mean")
    if odd or not all(type(part) is int for part in whole.values()):
        raise InterventionError("bad_intervention", text=str(tuple(one))[:80])
    return _checked_row(one) if isinstance(one, RowOverride) else one


def _checked_row(row: RowOverride) -> RowOverride:
    try:
        weights = tuple(map(float, row.weights))
    except (TypeError, ValueError):
        weights = ()
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights) or not any(weights):
        raise InterventionError("bad_row", query=row.query)
    return row._replace(weights=weights)
