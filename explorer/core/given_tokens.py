"""Tokens that are given beside a text, found in the pieces that a model reads.

Files of gold links count tokens that the text does not show: punctuation and clitics apart, words
of Chinese. The model reads the natural text; each token is then found in it by its characters, in
order, and each piece belongs to the tokens whose characters it spells. A piece that spells
characters of two tokens ("我昨天", of 我 and 昨天) belongs to both, in proportion to them (1/3,
2/3); a piece without characters, such as "▁" alone, belongs to the token that follows.

Characters are compared after compatibility decomposition and case folding (Unicode UAX #15,
toNFKD(toCasefold(toNFKD(c)))), spaces and "▁" skipped, because vocabularies normalise text: "é"
and "e" + U+0301, "，" and ",", "ﬁ" and "fi", "…" and "..." are alike. Where only one side has a
control or format character (soft hyphen, zero-width joiner …), it is skipped as well.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from explorer.core.alignment import Links, matrix, refuse_unknown_timing
from explorer.core.errors import AlignmentError
from explorer.core.trace import Trace, check_trace
from explorer.core.vocabulary import shorten
from explorer.core.word_segmentation import Word, spelling
from explorer.core.words import merged_weights, word_mark

_SKIPPED = ("Cc", "Cf")  # control and format characters
_SHOWN = 20  # characters of a text in an error


@dataclass(frozen=True, slots=True)
class TokenPieces:
    """The pieces that spell each token, as one list over all tokens; a piece that belongs to two
    tokens is listed twice.

    pieces: (N,) positions of pieces, in order.
    shares: (N,) the share of the piece that is the token's, over 0 to 1.
    tokens: the entries of each token.
    """

    pieces: NDArray[np.intp]
    shares: NDArray[np.float64]
    tokens: tuple[Word, ...]


def split_tokens(cell: str) -> tuple[str, ...]:
    """The tokens in a cell, separated by spaces. No-break and full-width spaces do not separate:
    they may be inside a token ("1 000")."""
    return tuple(token for token in cell.split(" ") if token)


def refuse_other_tokens(text: str, tokens: Sequence[str]) -> None:
    """Raise `AlignmentError` unless `tokens` spell `text`."""
    _owners([text], tokens, "tokens_differ")


def token_pieces(labels: Sequence[str], tokens: Sequence[str], mark: str) -> TokenPieces:
    """The pieces of each token; of `labels`, specials belong to none. mark: from `word_mark`.

    Raises `AlignmentError` when the pieces spell something else, or nothing for a token.
    """
    units = [unit for unit in spelling(labels, mark) if not unit.special]
    owners = _owners([unit.text for unit in units], tokens, "pieces_differ")
    by_token: list[list[tuple[int, float]]] = [[] for _ in tokens]
    following = len(tokens) - 1
    for unit, letters in reversed(list(zip(units, owners, strict=True))):
        weights = letters or {following: 1.0}
        total = sum(weights.values())
        for token in sorted(weights, reverse=True):
            share = weights[token] / total
            by_token[token] += [(piece, share) for piece in reversed(range(unit.start, unit.stop))]
        following = min(weights)
    for number, entries in enumerate(by_token):
        if not entries:
            raise AlignmentError("token_unread", token=shorten(tokens[number]))
    return _listed(by_token)


def align_tokens(
    trace: Trace,
    layer: int,
    head: int | None,
    timing: str,
    source: TokenPieces,
    target: TokenPieces,
) -> Links:
    """Links between given tokens; equal to `align_words` if no piece belongs to two tokens.

    source, target: the pieces of the tokens, over the positions of `trace`.

    With s(p, w) the share of piece p that belongs to token w, the weight of target token w on
    source token v is

        Σ_t s(t, w) · Σ_k A[row(t), k] · s(k, v)  /  Σ_t s(t, w)

    where row(t) is t − 1, which predicts the piece fed in in row t, or t: see `TIMINGS`. So the
    weight of a piece is divided among its tokens, and their sum is the weight of the piece; of
    two tokens in one source piece, the longer one always has the larger share.
    """
    check_trace(trace)
    refuse_unknown_timing(timing)
    rows = target.pieces - (timing == "prediction")
    weights = matrix(trace, layer, head)[rows][:, source.pieces].astype(np.float64)
    weights *= target.shares[:, None] * source.shares
    # Divided by the number of pieces, not by the sum of their shares: the largest is the same.
    keys = merged_weights(weights, target.tokens, source.tokens).argmax(-1)
    return frozenset(zip(keys.tolist(), range(len(keys)), strict=True))


def pair_pieces(
    trace: Trace, source: Sequence[str], target: Sequence[str]
) -> tuple[TokenPieces, TokenPieces]:
    """The pieces of the tokens of both sides. Raises as `token_pieces` does."""
    mark = word_mark(trace)
    return (
        token_pieces(trace.source_tokens, source, mark),
        token_pieces(trace.target_tokens, target, mark),
    )


def _listed(by_token: Sequence[Sequence[tuple[int, float]]]) -> TokenPieces:
    """`TokenPieces` from the (piece, share) entries of each token, given in falling order."""
    entries: list[tuple[int, float]] = []
    words = []
    for own in by_token:
        words.append(Word("", len(entries), len(entries) + len(own)))
        entries += reversed(own)
    pieces = np.array([piece for piece, _ in entries], dtype=np.intp)
    shares = np.array([share for _, share in entries], dtype=np.float64)
    return TokenPieces(pieces, shares, tuple(words))


def _owners(spelled: Sequence[str], tokens: Sequence[str], key: str) -> list[dict[int, float]]:
    """For each text of `spelled`, the number of its characters that belong to each token.

    key: of the `AlignmentError` raised at the first character that differs.
    """
    found: list[dict[int, float]] = [defaultdict(float) for _ in spelled]
    read, given = _characters(spelled), _characters(tokens)
    one = other = 0
    while one < len(read) or other < len(given):
        if one < len(read) and other < len(given) and read[one].form == given[other].form:
            found[read[one].text][given[other].text] += read[one].weight
            one, other = one + 1, other + 1
        elif one < len(read) and read[one].skipped:
            one += 1
        elif other < len(given) and given[other].skipped:
            other += 1
        else:
            raise _difference(key, read, one, tokens, given, other)
    return found


@dataclass(frozen=True, slots=True)
class _Character:
    """A part of a character in the form that is compared.

    letter: the character as written, with a space before it if there is one; "" for every part
    after the first.
    text: index of its text among several. weight: its share of the written character.
    """

    form: str
    letter: str
    text: int
    weight: float

    @property
    def skipped(self) -> bool:
        return unicodedata.category(self.form) in _SKIPPED

    @property
    def order(self) -> int:
        """The canonical combining class; 0 for anything but a combining mark."""
        return unicodedata.combining(self.form)


def _characters(texts: Sequence[str]) -> list[_Character]:
    """The characters of all texts, combining marks in canonical order, even across texts."""
    parts: list[_Character] = []
    for number, text in enumerate(texts):
        gap = ""
        for letter in text:
            forms = _forms(letter)
            parts += [
                _Character(form, "" if part else gap + letter, number, 1 / len(forms))
                for part, form in enumerate(forms)
            ]
            gap = "" if forms else " "
    ordered: list[_Character] = []
    for _, run in groupby(parts, key=lambda part: part.order != 0):
        ordered += sorted(run, key=lambda part: part.order)  # those that are no marks all have 0
    return ordered


@lru_cache(maxsize=4096)
def _forms(letter: str) -> str:
    """The form in which a character is compared; "" for a space."""
    folded = unicodedata.normalize("NFKD", letter).casefold()
    forms = unicodedata.normalize("NFKD", folded).replace("▁", "")
    return "".join(forms.split())


def _difference(
    key: str,
    read: Sequence[_Character],
    one: int,
    tokens: Sequence[str],
    given: Sequence[_Character],
    other: int,
) -> AlignmentError:
    """The error if `read` at `one` and `given` at `other` have different characters.

    It shows the token, and the text from the start of that token.
    """
    token = ""
    if other < len(given):
        token = tokens[given[other].text]
        before = sum(letter.text == given[other].text for letter in given[:other])
        one = max(one - before, 0)
    rest = "".join(letter.letter for letter in read[one : one + _SHOWN])
    return AlignmentError(key, text=shorten(rest.strip()), token=shorten(token))
