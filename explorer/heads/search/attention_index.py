"""An index of the attention of every head over a corpus, in one file, and its searches.

The file is of the format safetensors. Its metadata has one entry, JSON facts on the model and the
texts. Its tensors are, for each site, the weights (heads, cells) of all sentences one after
another in 255ths, so that a search reads one row of bytes; and for each side the tokens of all
sentences.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Self, TypedDict
from urllib.parse import urlencode

import msgspec
import numpy as np
import pandas as pd
from msgspec import Meta
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from explorer.core.address_fields import MOST_FORCED, Whole
from explorer.core.errors import ConfigError, SearchError
from explorer.core.files import as_path, opened
from explorer.core.look import Look, Reading, Request, Selection, to_query
from explorer.core.section_questions import KEY_PARTS
from explorer.core.sites import SIDES, Head, given_head, sides
from explorer.core.vocabulary import LONGEST_LINKED_TEXT, shown_label
from explorer.core.word_segmentation import is_punctuation, mark_of
from explorer.model.evaluation_batch import TokenKind

FORMAT_VERSION = 1

STEPS = 255
"""Steps of a stored weight between 0 and 1."""

COLUMNS = (
    *("weight", "sentence", "source", "target"),
    *("query", "key", "query_token", "key_token", "link"),
)

_CELL_BYTES = 3 * 8  # of the arrays of `SiteCells`
_OF_A_SIDE = ("ids", "kinds", "lengths")
_Numbers = NDArray[np.int64]
_Cells = NDArray[np.bool_]
_Site = Literal["encoder", "decoder", "cross"]
_Side = Literal["source", "target"]


class _Facts(TypedDict):
    """The facts in a file; see `index_building`."""

    version: Literal[1]  # `FORMAT_VERSION`
    model: str
    digest: str
    name: str
    corpus: str
    least: NotRequired[float]
    heads: Annotated[list[tuple[_Site, Whole, Whole]], Meta(min_length=1)]
    sources: list[str]
    targets: list[str]
    joined: bool
    forced: list[list[Whole]] | None
    languages: tuple[str | None, str | None]
    labels: dict[_Side, dict[str, str]]


@dataclass(frozen=True, eq=False)
class IndexedTokens:
    """The tokens of one side of all sentences, one sentence after another.

    ids, kinds: of each token. lengths: of each sentence. labels: id → label.
    """

    ids: _Numbers
    kinds: _Numbers
    lengths: _Numbers
    labels: Mapping[int, str]

    @cached_property
    def starts(self) -> _Numbers:
        """The place of the first token of each sentence."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def mark(self) -> str:
        """The mark of words in the labels; see `word_segmentation`."""
        return mark_of([*self.labels.values()])

    def of_sentence(self, sentence: int) -> list[str]:
        """The labels of the tokens of a sentence."""
        start = self.starts[sentence]
        return [self.labels[one] for one in self.ids[start:][: self.lengths[sentence]].tolist()]

    def are(self, token: str) -> _Cells:
        """Which tokens have this label, with or without the mark of a word; if none has, which are
        shown so."""
        for spellings in (_written, _shown):
            if found := [one for one, label in self.labels.items() if token in spellings(label)]:
                return np.isin(self.ids, found)
        return np.zeros(len(self.ids), dtype=np.bool_)

    def are_punctuation(self) -> _Cells:
        """Which tokens are content that is punctuation alone."""
        marks = [one for one, label in self.labels.items() if is_punctuation(label)]
        return np.isin(self.ids, marks) & (self.kinds == TokenKind.CONTENT)


@dataclass(frozen=True, eq=False)
class SiteCells:
    """The cells of one site, one sentence after another, each row by row.

    starts: the number of the first cell of each sentence. queries, keys: of each cell, the places
    of its tokens among those of all sentences. offsets: of each cell, the position of its key less
    that of its query.
    """

    starts: _Numbers
    queries: _Numbers
    keys: _Numbers
    offsets: _Numbers

    @classmethod
    def of(cls, queries: IndexedTokens, keys: IndexedTokens) -> Self:
        counts = queries.lengths * keys.lengths
        starts = np.cumsum(counts) - counts
        own = np.arange(counts.sum()) - np.repeat(starts, counts)
        query, key = np.divmod(own, np.repeat(keys.lengths, counts))
        of_query = np.repeat(queries.starts, counts) + query
        return cls(starts, of_query, np.repeat(keys.starts, counts) + key, key - query)


@dataclass(frozen=True, eq=False)
class AttentionIndex:
    """The attention of every head over a corpus, in a file that stays where it is.

    facts: on the model and the corpus, see `index_building`.
    """

    path: Path
    facts: Mapping[str, Any]
    tokens: Mapping[str, IndexedTokens]
    _file: Any

    def __repr__(self) -> str:
        return f"AttentionIndex({self.facts['model']!r}: {len(self)} sentences)"

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.facts["sources"])

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """Every head in the index."""
        return tuple(Head(*one) for one in self.facts["heads"])

    @property
    def least(self) -> float:
        """The smallest weight that a search finds."""
        return float(max(self.facts.get("least", 0.0), 0.5 / STEPS))

    @property
    def memory(self) -> int:
        """Bytes that searches of all sites keep, roughly."""
        return sum(
            int((queries.lengths * keys.lengths).sum()) * _CELL_BYTES
            for queries, keys in map(self._sides, dict.fromkeys(head.site for head in self.heads))
        )

    def refuse_other(self, digest: str, corpus: str) -> None:
        """Raise `SearchError` unless the index is of the model and the texts of these digests."""
        if (self.facts["digest"], self.facts["corpus"]) != (digest, corpus):
            raise SearchError("other_index", name=self.path.name, model=self.facts["model"])

    def search(
        self,
        head: Sequence[Any] | str,
        *,
        tokens: tuple[str | None, str | None] = (None, None),
        offset: int | None = None,
        part: str | None = None,
        top: int = 20,
    ) -> pd.DataFrame:
        """The sentences in which a head puts the most weight on one cell of those that are chosen.

        >>> index = model.index(["I have a black cat.", "It is late."], "some.index")
        >>> index.search(("cross", 1, 2), tokens=(None, "black")).sentence.to_list()
        [0]

        head: (site, layer, head), or "cross.1.2".
        tokens: the labels of query and key, with or without the mark of a word, or as they are
            shown, bos for <bos> and _a for ▁a; None = any. The query is the token that is fed in.
        offset: the position of the key less that of the query.
        part: what the key is, one of `KEY_PARTS`.
        top: the most rows.

        One row a sentence, with its strongest cell; equal weights in the order of the corpus.
        Weights are rounded to 255ths, and cells below `least` are not found. link: the query of
        the address that opens the cell in Explore; "" for a sentence too long for an address.

        Raises `SearchError` on another head or part, and on a token that is in no sentence;
        `ConfigError` on a value of another type.
        """
        row = self._row(head)
        head = self.heads[row]
        _refuse_question(tokens, offset, top)
        of_site = [number for number, one in enumerate(self.heads) if one.site == head.site]
        weights = self._file.get_slice(head.site)[of_site.index(row)]
        chosen = self._chosen(head.site, tokens, offset, part)
        weights = np.where(chosen, weights, np.uint8(0))
        starts = self._cells(head.site).starts
        strongest = np.maximum.reduceat(weights, starts)
        ranked = np.argsort(STEPS - strongest, kind="stable")[:top]
        ends = np.append(starts[1:], len(weights))
        found = [
            int(starts[one] + np.argmax(weights[starts[one] : ends[one]]))
            for one in ranked[strongest[ranked] > 0]
        ]
        rows = [self._found(head, cell, int(weights[cell]) / STEPS) for cell in found]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def _chosen(
        self,
        site: str,
        tokens: tuple[str | None, str | None],
        offset: int | None,
        part: str | None,
    ) -> _Cells:
        """Which cells of a site are asked for."""
        cells = self._cells(site)
        queries, keys = self._sides(site)
        of_query, of_key = sides(*SIDES)[site]
        chosen = np.ones(len(cells.queries), dtype=np.bool_)
        query, key = tokens
        if query is not None:
            chosen &= self._are(of_query, query)[cells.queries]
        if key is not None:
            chosen &= self._are(of_key, key)[cells.keys]
        if offset is not None:
            chosen &= cells.offsets == offset
        if part == "same token":
            if site == "cross":
                raise SearchError("no_same_token")
            content = (keys.kinds == TokenKind.CONTENT)[cells.keys]
            same = queries.ids[cells.queries] == keys.ids[cells.keys]
            chosen &= same & content & (cells.offsets != 0)
        elif part is not None:
            chosen &= _keys_in(keys, part)[cells.keys]
        return chosen

    def _are(self, side: str, token: str) -> _Cells:
        """Which tokens of a side are asked for. Raises `SearchError` if none is."""
        found = self.tokens[side].are(token)
        if not found.any():
            both = all(len(one.ids) for one in self.tokens.values())
            raise SearchError(f"no_token_in_{side}" if both else "no_token_in_index", token=token)
        return found

    def _found(self, head: Head, cell: int, weight: float) -> tuple[Any, ...]:
        """The row of a cell."""
        cells = self._cells(head.site)
        queries, keys = self._sides(head.site)
        sentence = int(np.searchsorted(cells.starts, cell, side="right")) - 1
        of_query, of_key = int(cells.queries[cell]), int(cells.keys[cell])
        query = of_query - int(queries.starts[sentence])
        key = of_key - int(keys.starts[sentence])
        labels = (
            queries.labels[int(queries.ids[of_query])],
            keys.labels[int(keys.ids[of_key])],
        )
        link = self._link(head, sentence, query, key)
        texts = (self.facts[side][sentence] for side in ("sources", "targets"))
        return (weight, sentence, *texts, query, key, *labels, link)

    def _link(self, head: Head, sentence: int, query: int, key: int) -> str:
        text, target = (self.facts[side][sentence] for side in ("sources", "targets"))
        forced: tuple[tuple[int, int], ...] = ()
        if self.facts["forced"] is not None:
            forced = tuple(enumerate(self.facts["forced"][sentence], start=1))
        if len(text) > LONGEST_LINKED_TEXT or len(forced) > MOST_FORCED:
            return ""
        source, other = (code or "" for code in self.facts["languages"])
        request = Request(
            self.facts["model"],
            text,
            forced=forced,
            pair=target if self.facts["joined"] else None,
            reading=Reading(source, other) if source or other else None,
        )
        step = None if head.site == "encoder" else query + 1
        selection = Selection(head.site, head.layer, head.head, step, cell=(query, key))
        return f"?{urlencode(to_query(Look(request, selection)))}"

    def _row(self, head: Sequence[Any] | str) -> int:
        """The number of a head among all. Raises `SearchError`."""
        found = given_head(head, self.heads)
        if found is None:
            ends = {"first": str(self.heads[0]), "last": str(self.heads[-1])}
            raise SearchError("no_indexed_head", head=str(head), **ends)
        return self.heads.index(found)

    def _sides(self, site: str) -> tuple[IndexedTokens, IndexedTokens]:
        """The tokens of the queries and of the keys of a site."""
        return sides(self.tokens["source"], self.tokens["target"])[site]

    def _cells(self, site: str) -> SiteCells:
        if site not in self._cells_of_sites:
            self._cells_of_sites[site] = SiteCells.of(*self._sides(site))
        return self._cells_of_sites[site]

    @cached_property
    def _cells_of_sites(self) -> dict[str, SiteCells]:
        """Those that were asked for: every search of a site needs them again."""
        return {}

    def refuse_uneven(self) -> None:
        """Raise `ValueError` unless all lists and tensors are as long as the texts say, and all
        tokens have labels."""
        for name in ("targets", "forced"):
            if self.facts[name] is not None and len(self.facts[name]) != len(self):
                raise ValueError(name)
        for site in dict.fromkeys(head.site for head in self.heads):
            queries, keys = self._sides(site)
            if not len(queries.lengths) == len(keys.lengths) == len(self):
                raise ValueError(site)
            count = sum(head.site == site for head in self.heads)
            cells = queries.lengths * keys.lengths
            if self._file.get_slice(site).get_shape() != [count, cells.sum()] or not cells.all():
                raise ValueError(site)
        for tokens in self.tokens.values():
            if not len(tokens.ids) == len(tokens.kinds) == tokens.lengths.sum():
                raise ValueError("tokens")
            if not tokens.labels.keys() >= set(tokens.ids.tolist()):
                raise ValueError("labels")


def open_index(path: str | Path) -> AttentionIndex:
    """The index in a file that `index` of a model wrote.

    >>> explorer.open_index("english-french.index").search(("cross", 1, 2), part="end")

    Raises `FileError`, and `SearchError` on any other file.
    """
    path = as_path(path)
    with opened(path):  # a regular file that can be read
        pass
    try:
        file: Any = safe_open(path, framework="numpy")
        facts = msgspec.json.decode((file.metadata() or {})["index"], type=_Facts)
        index = AttentionIndex(
            path, facts, {side: _tokens(file, facts, side) for side in SIDES}, file
        )
        index.refuse_uneven()
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise SearchError("no_index", name=path.name) from error
    return index


def _tokens(file: Any, facts: Mapping[str, Any], side: str) -> IndexedTokens:
    """The tokens of one side in an open file."""
    ids, kinds, lengths = (file.get_tensor(f"{side}.{name}") for name in _OF_A_SIDE)
    labels = {int(one): str(label) for one, label in facts["labels"][side].items()}
    return IndexedTokens(ids, kinds, lengths, labels)


def _refuse_question(tokens: object, offset: object, top: object) -> None:
    """Raise `ConfigError` on values of a search that are of another type."""
    pair = tokens if isinstance(tokens, tuple | list) else ()
    if len(pair) != 2 or not all(one is None or isinstance(one, str) for one in pair):
        raise ConfigError("no_pair_of_tokens", got=repr(tokens))
    if offset is not None and (isinstance(offset, bool) or not isinstance(offset, Integral)):
        raise ConfigError("no_offset", got=repr(offset))
    if isinstance(top, bool) or not isinstance(top, Integral) or int(top) < 1:
        raise ConfigError("no_whole_number", name="top", got=repr(top), least=1)


def _keys_in(keys: IndexedTokens, part: str) -> _Cells:
    """Which tokens are in a part. Raises `SearchError` on an unknown one."""
    if part == "punctuation":
        return keys.are_punctuation()
    if part == "end":
        return keys.kinds == TokenKind.END
    if part in ("special", "content"):
        return (keys.kinds == TokenKind.CONTENT) == (part == "content")
    raise SearchError("unknown_part", part=str(part), known=", ".join(KEY_PARTS))


def _written(label: str) -> tuple[str, ...]:
    return label, _bare(label)


def _shown(label: str) -> tuple[str, ...]:
    """As a screen shows it: a special one without brackets, the mark ▁ like an underscore."""
    return shown_label(label), label.replace("▁", "_")


def _bare(label: str) -> str:
    """A label without the mark of a word."""
    bare = label.lstrip("▁Ġ")
    return bare.removeprefix("##") or bare
