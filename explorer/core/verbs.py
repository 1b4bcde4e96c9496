"""The verbs of interventions, each declared once: changes in a model while it runs, to heads, cells
of masks, rows of weights, parts of the whole model or the way it chooses tokens.

Each intervention has one line of text, for links and facts:

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
    draw 0.8 7 k=40 p=0.9       only from the 40 most probable tokens, then from the fewest of
                                these with 0.9 of the probability together

A head is written site.layer.head, counted from 0. A typed line may begin with the `typed` word of a
verb, which the command line and `trace` use: mask, unmask or override-row.

From `VERBS` follow the parser, the line, the options of the command line, the ranges, the facts of
the chip and the checks of what `trace` is given; the browser reads and writes lines by the same
table (`trace/js/verbs.ts`). A further verb is a tuple and its entry here, its sentence `chip_VERB`
in `strings/player.toml`, an option of `trace`, and what it does in a pass.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_type_hints

from explorer.core.errors import InterventionError
from explorer.core.number_format import typed_number
from explorer.core.sites import SITES

OMISSIONS = ("scaling", "mask", "positions")
"""Parts that can be left out of a Transformer to see their effect: the division of the scores by √K
(§3.2.1), all masks (§3.2.3), the position vectors (§3.5)."""


@dataclass(frozen=True, slots=True)
class Argument:
    """How the line of an intervention writes a field; one with a default may be left out.

    kind: "site" and the "place"s of layer and head are one word, cross.1.2; an "index" counts from
        0, and only the model knows its end; "whole" and "number" have a range; "numbers" are all
        words that are left.
    least, most: of a number; `above`: least itself is too low.
    every: of a place, whether it may be "*", None = all of them.
    mark: what an optional word begins with, such as "k=".
    refused: key of the sentence on a value that is not allowed, if it has one.
    """

    kind: Literal["site", "place", "index", "choice", "whole", "number", "numbers"]
    choices: tuple[str, ...] = ()
    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    every: bool = False
    mark: str = ""
    refused: str = ""

    def read(self, word: str) -> object:
        """The value of a word. Raises `ValueError`."""
        match self.kind:
            case "site":
                return word  # `checked` has a sentence on others
            case "place" if self.every and word == "*":
                return None
            case "choice":
                return self.choices[self.choices.index(word)]
            case "number":
                return _decimal(word)
            case "numbers" if several := word.replace(",", " ").split():
                return tuple(map(_decimal, several))
        return _whole(word)

    def checked(self, value: Any) -> object:
        """The value itself; numbers as floats. Raises `ValueError` if it is not allowed."""
        if value is None and (self.every or self.mark):
            return None
        match self.kind, value:
            case "site" | "choice", str() if value in self.choices:
                return value
            case "numbers", _:
                numbers = tuple(map(float, value))
                if all(map(self._within, numbers)) and any(numbers):
                    return numbers
            case "number", float() | int() if type(value) is not bool and self._within(value):
                return float(value)
            case "place" | "index" | "whole", int() if type(value) is int and self._within(value):
                return value
        raise ValueError

    def _within(self, number: float) -> bool:
        low = number <= self.least if self.above else number < self.least
        return math.isfinite(number) and not low and number <= self.most

    def written(self, value: Any) -> str:
        """The word of a value."""
        if self.kind == "numbers":
            return ",".join(map(_written, value))
        return "*" if value is None else f"{self.mark}{_written(value)}"


_Site = Annotated[str, Argument("site", SITES, refused="no_such_site")]
_Place = Annotated[int, Argument("place")]
_AnyPlace = Annotated[int | None, Argument("place", every=True)]
_Index = Annotated[int, Argument("index")]


class Ablation(NamedTuple):
    """Replace the output of a head, before the output projection, by zero or by its mean; None as
    head stands for all heads of the layer."""

    site: _Site
    layer: _Place
    head: _AnyPlace
    how: Annotated[Literal["zero", "mean"], Argument("choice", ("zero", "mean"))] = "zero"


class Keep(NamedTuple):
    """Remove the other heads of the site, unless they are kept too; None as head stands for all
    heads of the layer."""

    site: _Site
    layer: _Place
    head: _AnyPlace


class CellEdit(NamedTuple):
    """Mask a cell, or unmask it; None as layer or head stands for all of them."""

    site: _Site
    layer: _AnyPlace
    head: _AnyPlace
    query: _Index
    key: _Index
    open: bool = False

    @property
    def looks_ahead(self) -> bool:
        """Whether the cell lets a query of the target attend to a later position."""
        return self.open and self.site == "decoder" and self.key > self.query


class RowOverride(NamedTuple):
    """Set the weights of one query in one head.

    weights: by key from key 0 on, finite, none negative, one above 0; keys without one get 0.
        Weights on masked cells are dropped, the others are made to sum to 1.
    """

    site: _Site
    layer: _Place
    head: _Place
    query: _Index
    weights: Annotated[tuple[float, ...], Argument("numbers", least=0, refused="bad_row")]


class Omission(NamedTuple):
    """Leave a part out of every layer, one of `OMISSIONS`."""

    part: Annotated[str, Argument("choice", OMISSIONS)]


class Drawing(NamedTuple):
    """Draw each token from softmax(logits / temperature), not the most probable one.

    seed: the same one draws the same tokens.
    k: top-k: only the k most probable tokens can be drawn (Fan et al. 2018, arXiv 1805.04833).
    p: top-p: of these only the fewest that have p of the probability together, the most probable
        ones (Holtzman et al. 2020, arXiv 1904.09751).
    """

    temperature: Annotated[float, Argument("number", least=0.1, most=5)]
    seed: Annotated[int, Argument("whole", least=0, most=9_999)]
    k: Annotated[int | None, Argument("whole", least=1, most=9_999, mark="k=")] = None
    p: Annotated[float | None, Argument("number", least=0, most=1, above=True, mark="p=")] = None


OnAttention: TypeAlias = Ablation | Keep | CellEdit | RowOverride
Intervention: TypeAlias = OnAttention | Omission | Drawing

_Kind = TypeVar("_Kind", bound=Intervention)


@dataclass(frozen=True, slots=True)
class Verb:
    """kind: the tuple of its interventions. option: that of `trace` which takes them.
    examples: what may follow the verb, the usual one first. help: on the command line, which has no
        option for a verb without it. typed: its word there and in Python, if that is another one.
    flags: fields that are no words; they set two verbs of one tuple apart.
    once: fields that no two interventions share; of two that do, the later one counts.
    gesture: of *Edit* in the browser, by which a person does it; "" for none.
    refused: key of the sentence on a line that cannot be read.
    """

    kind: type[Intervention]
    option: str
    examples: tuple[str, ...]
    help: str = ""
    typed: str = ""
    flags: tuple[bool, ...] = ()
    once: tuple[str, ...] | None = None
    gesture: Literal["", "head", "cell", "weight", "part", "draw"] = ""
    refused: str = "bad_intervention"

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """The arguments by the names of their fields."""
        return _ARGUMENTS[self.kind]

    def has(self, kind: str) -> bool:
        """Whether one of its arguments is of this kind."""
        return any(argument.kind == kind for argument in self.arguments.values())


VERBS: Mapping[str, Verb] = {
    "ablate": Verb(
        Ablation,
        "ablate",
        ("cross.1.2", "cross.1.*", "cross.1.2 mean"),
        "remove a head, or all of a layer, or set it to its mean output",
        once=("site", "layer", "head"),
        gesture="head",
    ),
    "keep": Verb(Keep, "keep", ("cross.1.2", "cross.1.*"), "remove all other heads of the site"),
    "close": Verb(
        CellEdit, "edit_mask", ("cross.1.2 3 0",), "mask a cell", "mask", (False,), gesture="cell"
    ),
    "open": Verb(
        CellEdit,
        "edit_mask",
        ("decoder.0.1 2 5",),
        "unmask a cell",
        "unmask",
        (True,),
        gesture="cell",
    ),
    "row": Verb(
        RowOverride,
        "override_row",
        ("cross.1.2 3 0.5,0.5",),
        "set a row of weights",
        typed="override-row",
        gesture="weight",
    ),
    "omit": Verb(Omission, "without", ("positions",), once=("part",), gesture="part"),
    "draw": Verb(
        Drawing,
        "draw",
        ("0.8 7", "0.8 7 k=40 p=0.9"),
        "draw each token at random, perhaps with top-k and top-p",
        once=(),
        gesture="draw",
        refused="bad_drawing",
    ),
}
"""By the word of links, in the order in which the lines of a trace stand."""

_TYPED = {verb.typed: word for word, verb in VERBS.items() if verb.typed}

_ARGUMENTS: Mapping[type, Mapping[str, Argument]] = {
    verb.kind: {
        name: hint.__metadata__[0]
        for name, hint in get_type_hints(verb.kind, include_extras=True).items()
        if hasattr(hint, "__metadata__")
    }
    for verb in VERBS.values()
}


def read(text: str) -> Intervention:
    """The intervention of one line. Raises `InterventionError`."""
    word, words = _split(text)
    known = (word,) if word in VERBS else VERBS
    examples = ", ".join(example for verb in known for example in examples_of(verb))
    facts = {"text": text[:80], "examples": examples, "got": " ".join(words)[:80]}
    if word not in VERBS or not words:
        raise InterventionError("bad_intervention", **facts)
    try:
        return _of_words(VERBS[word], words)
    except ValueError:
        raise InterventionError(VERBS[word].refused, **facts, **ranges(word)) from None


def read_as(verbs: Sequence[str], text: str) -> Intervention:
    """The intervention of a line of one of `verbs`; without a verb, of the first one.

    Raises `ValueError`, and `InterventionError` as `checked` does.
    """
    word, words = _split(text)
    return _of_words(*((VERBS[word], words) if word in verbs else (VERBS[verbs[0]], text.split())))


def _split(text: str) -> tuple[str, list[str]]:
    """The verb of a line, as links write it, and the other words."""
    word, *words = text.split() or [""]
    return _TYPED.get(word, word), words


def _of_words(verb: Verb, words: list[str]) -> Intervention:
    """The intervention with these words after its verb. Raises as `read_as`."""
    if verb.has("site"):
        site, layer, head = (*words, "")[0].split(".")
        words = [site, layer, head, *words[1:]]
    fields: list[object] = []
    for name, argument in verb.arguments.items():
        if argument.kind == "numbers":
            words = [" ".join(words)]
        if words and words[0].startswith(argument.mark):
            fields.append(argument.read(words.pop(0).removeprefix(argument.mark)))
        elif name in verb.kind._field_defaults:
            fields.append(verb.kind._field_defaults[name])
        else:
            raise ValueError
    if words:
        raise ValueError
    return checked(verb.kind, [*fields, *verb.flags])


def checked(kind: type[_Kind], fields: Sequence[Any]) -> _Kind:
    """The intervention with these fields, as `VERBS` allows them.

    Raises `ValueError` on fields that are malformed, and `InterventionError` on a site that does
    not exist and a value that has a sentence in `VERBS`.
    """
    try:
        one = kind(*map(_plain, fields))
    except TypeError:
        raise ValueError from None
    values: list[Any] = []
    for argument, value in zip(_ARGUMENTS[type(one)].values(), one, strict=False):
        try:
            values.append(argument.checked(value))
        except (TypeError, ValueError):
            if not argument.refused:
                raise ValueError from None
            facts = {name: getattr(one, name, None) for name in ("site", "query")}
            raise InterventionError(argument.refused, **facts, sites=", ".join(SITES)) from None
    flags = one[len(values) :]
    if not all(isinstance(flag, bool) for flag in flags):
        raise ValueError
    return kind(*values, *flags)


def line(one: Intervention) -> str:
    """The line of text of an intervention; `read` reads it back."""
    words = [
        argument.written(getattr(one, name))
        for name, argument in _ARGUMENTS[type(one)].items()
        if getattr(one, name) != one._field_defaults.get(name, ...)
    ]
    if isinstance(one, OnAttention):
        words[:3] = [".".join(words[:3])]
    return " ".join([word_of(one), *words])


def typed(one: Intervention) -> str:
    """Line of an intervention in the words of the command line."""
    word, _, rest = line(one).partition(" ")
    return f"{VERBS[word].typed or word} {rest}"


def examples_of(word: str) -> list[str]:
    """Lines of a verb, in the words of the command line."""
    return [f"{VERBS[word].typed or word} {example}" for example in VERBS[word].examples]


def form(word: str) -> str:
    """What follows a verb, the names of its words: HEAD QUERY KEY."""
    kind, names = VERBS[word].kind, ["HEAD"] if VERBS[word].has("site") else []
    for name, argument in VERBS[word].arguments.items():
        if argument.kind not in ("site", "place"):
            named = argument.mark + name.upper()
            names.append(f"[{named}]" if name in kind._field_defaults else named)
    return " ".join(names)


def chip(one: Intervention) -> tuple[str, dict[str, Any], list[tuple[str, str]]]:
    """The key of the sentence of an intervention, its facts without those of heads, and the names
    and numbers of the optional words that follow, one more sentence each; positions from 1."""
    key, facts, more = f"chip_{word_of(one)}", dict[str, Any](), list[tuple[str, str]]()
    for name, argument in _ARGUMENTS[type(one)].items():
        value = getattr(one, name)
        match argument.kind:
            case "choice":
                key += f"_{value}"
            case "index":
                facts[name] = value + 1
            case "whole" | "number" if not argument.mark:
                facts[name] = _written(value)
            case "whole" | "number" if value is not None:
                more.append((name, _written(value)))
    return key, facts, more


def ranges(word: str) -> dict[str, str]:
    """The ends of the ranges of a verb's numbers, as its sentences name them: "seed_most"."""
    return {
        f"{name}_{end}": _written(getattr(argument, end))
        for name, argument in VERBS[word].arguments.items()
        for end in ("least", "most")
        if argument.kind in ("whole", "number")
    }


def word_of(one: Intervention) -> str:
    """The verb of an intervention, as links write it."""
    return words_of(type(one))[isinstance(one, CellEdit) and one.open]


def words_of(kind: type) -> list[str]:
    """The verbs of which `kind` is the tuple."""
    return [word for word, verb in VERBS.items() if verb.kind is kind]


def head_name(site: str, layer: int | None, head: int | None) -> str:
    """Name of a head in a line of text, such as "cross.1.2"; "*" stands for all layers or heads."""
    return ".".join([site, *("*" if part is None else str(part) for part in (layer, head))])


def _decimal(word: str) -> float:
    """The number that a word is in both languages; `float` reads "1_0" and other digits, too."""
    if "_" in word or not word.isascii():
        raise ValueError
    return float(word)


def _whole(word: str) -> int:
    """Whole number in a text. Raises `ValueError` on anything else.

    A negative number is accepted here: the check against the model refuses it.
    """
    if (number := typed_number(word.removeprefix("-"))) is None:
        raise ValueError
    return -number if word.startswith("-") else number


def _plain(part: Any) -> Any:
    """Convert a NumPy integer, such as one from a loop over an array, to a Python integer. Anything
    else is returned unchanged."""
    return int(part) if isinstance(part, Integral) and not isinstance(part, bool) else part


def _written(value: object) -> str:
    return str(value).removesuffix(".0")
