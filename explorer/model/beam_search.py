"""Beam search: several beginnings of the output are gone on with at once (Graves 2012, arXiv
1211.3711; Sutskever et al. 2014, arXiv 1409.3215)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import torch
from torch import Tensor

from explorer.core.errors import ConfigError
from explorer.model.beam import Beam
from explorer.model.beam_tree import BeamNode, BeamTree, Fate, penalty
from explorer.model.trace_options import TracedModel, refuse_options

MOST_WIDTH = 100
"""The widest beam: a step has up to width × width nodes, each with its text."""


class Continuations(Protocol):
    """A model after its input, which goes on with several outputs as one batch.

    first, last: the first step that is decoded, and the last one that may be.
    ends: ids after which an output is complete.
    """

    first: int
    last: int
    ends: frozenset[int]

    def start(self) -> Tensor:
        """ln p (1, V) of the first token; −∞ for those that are never chosen."""

    def follow(self, rows: Tensor, tokens: Tensor) -> Tensor:
        """ln p (N, V) of the token after each of N outputs, which become the batch: those of the
        `rows` (N,) of the batch before, each with one of the `tokens` (N,) more."""

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The labels of consecutive tokens."""

    def text(self, ids: Sequence[int]) -> str:
        """The text of an output."""


class ContinuedModel(TracedModel, Protocol):
    """A model whose outputs can be searched."""

    def continuations(self, given: Mapping[str, Any], max_new_tokens: int | None) -> Continuations:
        """The model after its input.

        given: the options of `trace` that say what is read. Raises as `trace` does, and
        `ConfigError` if the model writes no tokens.
        """


def beam(
    model: ContinuedModel,
    text: str | None = None,
    *,
    messages: Sequence[Mapping[str, str]] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    width: int = 4,
    max_new_tokens: int | None = None,
    length_penalty: float = 0.0,
) -> Beam:
    """Search the output with the largest sum of ln p, with several beginnings at once: a tree.

    >>> model = explorer.load("checkpoints/reverse-early.safetensors")
    >>> model.beam("7 3 9 1 4", width=2).best.text
    '4 1 9 3 7'

    text, messages, source_language, target_language, max_new_tokens: as in `trace`.
    width: the beginnings that are kept at each step, 1 to `MOST_WIDTH`; 1 = greedy decoding.
    length_penalty: α of Wu et al. 2016; above 0, longer outputs are preferred. 0 = plain sums.

    At each step each beginning gets each token. Of all these, those among the `width` most probable
    that end are outputs, and the `width` most probable others are kept. The search stops when no
    beginning can become one of the `width` best outputs any more.

    Raises `ConfigError` on other options and for a model that writes no tokens, `VocabularyError`
    on a text that cannot be read or is too long.
    """
    refuse_options("pattern", None, width=width, max_new_tokens=max_new_tokens)
    if width > MOST_WIDTH:
        raise ConfigError("beam_too_wide", got=width, most=MOST_WIDTH)
    _refuse_penalty(length_penalty)
    asked = {"text": text, "messages": messages}
    asked |= {"source_language": source_language, "target_language": target_language}
    given = {name: value for name, value in asked.items() if value is not None}
    tree = beam_tree(model, given, width, max_new_tokens, float(length_penalty))
    return Beam(tree.width, tree.length_penalty, tree.nodes, tree.outputs, model, given)


@torch.inference_mode()
def beam_tree(
    model: ContinuedModel,
    given: Mapping[str, Any],
    width: int,
    max_new_tokens: int | None = None,
    length_penalty: float = 0.0,
) -> BeamTree:
    """As `beam`, without what was searched. given: the options of `trace` that say what is read."""
    search = _Search(model.continuations(given, max_new_tokens), width, length_penalty)
    search.run()
    return BeamTree(width, length_penalty, tuple(search.nodes), tuple(search.outputs()))


def _refuse_penalty(given: object) -> None:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 <= float(given) < math.inf:  # type: ignore[arg-type]  # a number
        raise ConfigError("bad_length_penalty", got=repr(given))


@dataclass(slots=True)
class _Search:
    """A search on its way.

    nodes: as in `Beam`. live: those that are gone on with; None stands for no token yet.
    complete: those that end.
    """

    continued: Continuations
    width: int
    strength: float
    nodes: list[BeamNode] = field(default_factory=list)
    live: "list[BeamNode | None]" = field(default_factory=lambda: [None])
    complete: list[BeamNode] = field(default_factory=list)

    def run(self) -> None:
        after = self.continued.start()
        for step in range(self.continued.first, self.continued.last + 1):
            rows = self._grow(after, step)
            if self._is_decided():
                self._prune_all()
                return
            if step < self.continued.last:
                ids = torch.tensor([node.id for node in self.live if node is not None])
                after = self.continued.follow(torch.tensor(rows), ids)

    def outputs(self) -> list[BeamNode]:
        cut_off = [node for node in self.live if node is not None]
        return sorted([*self.complete, *cut_off], key=self._score, reverse=True)[: self.width]

    def _grow(self, after: Tensor, step: int) -> list[int]:
        """Add the nodes of a step; the row of each kept one's parent."""
        kept: list[tuple[int, BeamNode]] = []
        for place, (row, rank, token, own, total) in enumerate(self._candidates(after)):
            ends = token in self.continued.ends
            if ends and place < self.width:
                fate = Fate.ENDED
            elif not ends and len(kept) < self.width:
                fate = Fate.KEPT
            elif rank < self.width:
                fate = Fate.PRUNED
            else:
                continue
            node = self._node(self.live[row], step, token, own, total, fate)
            self.nodes.append(node)
            if fate == Fate.KEPT:
                kept.append((row, node))
            elif fate == Fate.ENDED:
                self.complete.append(node)
        self.live = [node for _, node in kept]
        return [row for row, _ in kept]

    def _candidates(self, after: Tensor) -> Iterator[tuple[int, int, int, float, float]]:
        """(row, rank after this row, id, ln p, sum), the largest sum first. Of each row as many as
        are enough to fill the beam, even if all ends come first."""
        most = min(self.width + len(self.continued.ends), after.size(1))
        best = after.topk(most)  # (N, most)
        sums = [0.0 if node is None else node.sum for node in self.live]
        totals = best.values + best.values.new_tensor(sums)[:, None]
        for index in totals.flatten().argsort(descending=True, stable=True).tolist():
            row, rank = divmod(index, most)
            total = float(totals[row, rank])
            if total > -math.inf:
                token, own = int(best.indices[row, rank]), float(best.values[row, rank])
                yield row, rank, token, own, total

    def _node(
        self, parent: BeamNode | None, step: int, token: int, own: float, total: float, fate: Fate
    ) -> BeamNode:
        ids, above = [token], parent
        while above is not None:
            ids.append(above.id)
            above = None if above.parent is None else self.nodes[above.parent]
        (label,), text = self.continued.labels([token]), self.continued.text(ids[::-1])
        before = None if parent is None else parent.number
        return BeamNode(len(self.nodes), before, step, token, label, own, total, fate, text)

    def _is_decided(self) -> bool:
        """Whether no beginning can become one of the best outputs any more: a sum only falls, and
        is divided by at most the penalty of the longest output."""
        if len(self.complete) < self.width:
            return not self.live
        worst = sorted(map(self._score, self.complete), reverse=True)[self.width - 1]
        longest = penalty(self.continued.last - self.continued.first + 1, self.strength)
        return all(node is not None and node.sum / longest <= worst for node in self.live)

    def _prune_all(self) -> None:
        for node in self.live:
            assert node is not None
            self.nodes[node.number] = replace(node, fate=Fate.PRUNED)
        self.live = []

    def _score(self, node: BeamNode) -> float:
        return node.sum / penalty(node.step - self.continued.first + 1, self.strength)
