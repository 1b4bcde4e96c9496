"""Evaluation of a model on held-out sequences of a toy task: with all symbols, and with the smaller
alphabets that a class may type."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.core.vocabulary import EOS, PAD
from explorer.data.batch import Batch
from explorer.data.toy_data import Task
from explorer.heads.metrics.attention_metrics import gold_weight
from explorer.model.greedy_decoding import greedy
from explorer.model.hooks import recorded
from explorer.model.transformer import Transformer
from explorer.training.translation_metrics import MeanLoss, mean_loss


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Share of outputs that match exactly, 0 to 1, by length; gold weight of each cross head."""

    exact_match_by_length: dict[int, float]
    gold: NDArray[np.float64]  # (layer, head), mean over the sequences of all lengths

    @property
    def exact_match(self) -> float:
        """The mean over all lengths."""
        return float(np.mean(list(self.exact_match_by_length.values())))

    @property
    def best_head(self) -> tuple[int, int]:
        """Layer and head with the largest gold weight."""
        layer, head = np.unravel_index(self.gold.argmax(), self.gold.shape)
        return int(layer), int(head)


def evaluate(
    model: Transformer,
    task: Task,
    symbols: int,
    longest: int,
    *,
    each: int = 300,
    seed: int = 1,
    advance: Callable[[], object] = lambda: None,
) -> Evaluation:
    """Decode greedily `each` held-out sequences of every length from 1 to `longest`, see
    `Task.held_out_batch`. advance: called after each length."""
    exact: dict[int, float] = {}
    gold: list[NDArray[np.float64]] = []
    batches = _batches(model, task, range(symbols), range(1, longest + 1), each, seed)
    for length, batch in batches:
        exact[length] = judge(model, batch)[1]
        gold.append(batch_gold_weight(model, task, batch))
        advance()
    return Evaluation(exact, np.mean(gold, axis=0))


def exact_match_by_length(
    model: Transformer,
    task: Task,
    alphabet: Sequence[int],
    lengths: Sequence[int],
    *,
    each: int = 300,
    seed: int = 1,
    advance: Callable[[], object] = lambda: None,
) -> dict[int, float]:
    """The exact match of `evaluate` on sequences of `alphabet` alone, symbols from 0 on.

    advance: called after each length.
    """
    exact: dict[int, float] = {}
    for length, batch in _batches(model, task, alphabet, lengths, each, seed):
        exact[length] = judge(model, batch)[1]
        advance()
    return exact


def typed_alphabets(symbols: Sequence[str]) -> dict[str, list[int]]:
    """The alphabets that a class may type, by their symbols, without duplicates.

    All symbols, the digits, the Latin letters, the other symbols, and the first three; symbols are
    numbered from 0.
    """
    kinds: dict[str, list[int]] = {"digit": [], "letter": [], "other": []}
    for number, symbol in enumerate(symbols):
        latin = symbol.isascii() and symbol.isalpha()
        kind = "digit" if symbol.isdigit() else "letter" if latin else "other"
        kinds[kind].append(number)
    everything = list(range(len(symbols)))
    chosen = [everything, *kinds.values(), everything[:3]]
    return {
        " ".join(symbols[number] for number in alphabet): alphabet
        for alphabet in chosen
        if alphabet
    }


def mean_by_halves(by_length: dict[int, float]) -> dict[str, float]:
    """The means over the shorter and over the longer half of the lengths: {"1-8": …, "9-16": …}."""
    lengths = sorted(by_length)
    middle = len(lengths) // 2
    return {
        f"{half[0]}-{half[-1]}": float(np.mean([by_length[length] for length in half]))
        for half in (lengths[:middle], lengths[middle:])
        if half
    }


def _batches(
    model: Transformer,
    task: Task,
    alphabet: Sequence[int],
    lengths: Sequence[int],
    each: int,
    seed: int,
) -> Iterator[tuple[int, Batch]]:
    """Each length with `each` sequences, on the model's device."""
    generator = torch.Generator().manual_seed(seed)
    for length in lengths:
        batch = task.held_out_batch(each, length, alphabet, generator)
        yield length, Batch(batch.source.to(model.device), batch.target.to(model.device))


def judge(model: Transformer, batch: Batch, smoothing: float = 0.0) -> tuple[MeanLoss, float]:
    """The loss on a batch, and the share of its targets that greedy decoding writes, EOS included.

    With a causal mask it writes a target if, and only if, each token is the most probable one after
    the right ones before it: the pass that gives the loss is enough.
    """
    loss = mean_loss(model, [batch], smoothing)
    return loss, loss.exact if model.config.causal else _share_written(model, batch)


@torch.inference_mode()
def _share_written(model: Transformer, batch: Batch) -> float:
    expected = batch.target[:, 1:]
    decoded = greedy(model, batch.source, limit=expected.size(1))
    padded = torch.full_like(expected, PAD)
    padded[:, : decoded.size(1)] = decoded
    return (padded == expected).all(1).double().mean().item()


@torch.inference_mode()
def batch_gold_weight(model: Transformer, task: Task, batch: Batch) -> NDArray[np.float64]:
    """(layer, head): mean weight on the gold position, 0 to 1, teacher-forced on the target.

    The mean over sequences of each sequence's mean: all weigh the same, whatever their length.
    """
    length = batch.source.size(1) - 1
    with recorded(model, "decoder.*.cross_attention.pattern") as patterns:
        model(batch.source, batch.target[:, :-1])
    weights = torch.stack(list(patterns.values()))[..., :length, :length]  # (layer, B, H, n, n)
    gold = np.zeros((len(weights[0]), length, length), dtype=np.bool_)  # (B, n, n)
    for sequence, source in zip(gold, batch.source.tolist(), strict=True):
        size = source.index(EOS)
        sequence[:size, :size] = task.alignment(source[:size])
    return gold_weight(weights.cpu().numpy(), gold[:, None]).mean(1)
