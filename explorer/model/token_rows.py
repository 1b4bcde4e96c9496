"""Token ids of several sequences, padded to one length, with the kind of each token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import torch
from torch import Tensor


class TokenKind(IntEnum):
    """Kind of a token in a sequence. The id does not show it: some models pad with a token
    that also ends a text."""

    CONTENT = 0
    SPECIAL = 1  # such as the beginning, or a language
    END = 2
    PADDING = 3


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """N sequences.

    ids: (N, L). kinds: (N, L) uint8 of `TokenKind`.
    """

    ids: Tensor
    kinds: Tensor

    @classmethod
    def of(
        cls, rows: Sequence[Sequence[int]], kind: Callable[[int], TokenKind], padding: int
    ) -> "TokenRows":
        """Sequences padded at the right with the id `padding`; kind: id → kind of the other ids."""
        longest = max(map(len, rows), default=0)
        ids = [[*row, *[padding] * (longest - len(row))] for row in rows]
        filled = TokenKind.PADDING
        kinds = [[*map(kind, row), *[filled] * (longest - len(row))] for row in rows]
        shape = (len(rows), longest)
        return cls(
            torch.tensor(ids, dtype=torch.long).view(shape),
            torch.tensor(kinds, dtype=torch.uint8).view(shape),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def real(self) -> Tensor:
        """(N, L) bool, False for padding."""
        return self.kinds != TokenKind.PADDING

    @property
    def ends(self) -> Tensor:
        """(N, L) bool, True for the end of a sequence."""
        return self.kinds == TokenKind.END

    @property
    def special(self) -> Tensor:
        """(N, L) bool, True for all but content: beginning, end, padding and others."""
        return self.kinds != TokenKind.CONTENT

    @property
    def lengths(self) -> Tensor:
        """(N,) tokens of each sequence without its padding."""
        return self.real.sum(1)

    @property
    def content_numbers(self) -> Tensor:
        """(N, L) numbers 0, 1, … of the content tokens of each sequence, −1 elsewhere."""
        content = self.kinds == TokenKind.CONTENT
        return (content.cumsum(1) - 1).masked_fill(~content, -1)

    def shifted(self) -> "TokenRows":
        """The token after each position; padding at the last."""
        ids, kinds = self.ids.roll(-1, 1), self.kinds.roll(-1, 1)
        kinds[:, -1:] = TokenKind.PADDING
        return TokenRows(ids, kinds)

    def chosen(self, rows: Tensor) -> "TokenRows":
        """The sequences with these numbers, without the padding that all of them share."""
        kinds = self.kinds[rows]
        longest = int((kinds != TokenKind.PADDING).sum(1).max()) if len(rows) else 0
        return TokenRows(self.ids[rows, :longest], kinds[:, :longest])

    def repeated(self, copies: int) -> "TokenRows":
        """All sequences, `copies` times one after the other."""
        return TokenRows(self.ids.repeat(copies, 1), self.kinds.repeat(copies, 1))


def teacher_forced(target: TokenRows, padding: int) -> tuple[TokenRows, TokenRows]:
    """Decoder inputs and the next token of each, both (N, L − 1).

    target: whole outputs, with beginning and end. padding: the id of padding.
    """
    labels = TokenRows(target.ids[:, 1:], target.kinds[:, 1:])
    fed = TokenRows(target.ids[:, :-1], target.kinds[:, :-1])
    nothing = ~labels.real  # the last token of a shorter output is not fed in
    queries = TokenRows(
        fed.ids.masked_fill(nothing, padding), fed.kinds.masked_fill(nothing, TokenKind.PADDING)
    )
    return queries, labels
