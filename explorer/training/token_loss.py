"""The training loss, with or without the logits of a whole batch in memory."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from explorer.core.vocabulary import PAD
from explorer.model.transformer import Transformer

_ROWS = 256  # rows with logits in memory at once; more no longer fit the processor's cache
_LARGE_VOCABULARY = 1000  # entries from which on computing by rows is faster


class TokenLoss(nn.Module):
    """Label-smoothed cross-entropy of a model, summed over the target tokens of a batch.

    On a CPU with a large vocabulary, most time is spent moving the logits (B, T, V) through
    memory, even for padding. There, logits and their gradient are computed together, a few rows
    at a time (as Liger Kernel does on GPUs, Hsu et al. 2024, arXiv 2410.10989): the same loss in a
    third of the time.
    """

    def __init__(self, model: Transformer, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """The loss of `target` (B, T + 1), which begins with BOS, given `source` (B, S)."""
        model, expected = self.model, target[:, 1:].flatten()
        by_rows = source.device.type == "cpu" and torch.is_grad_enabled()
        if not by_rows or model.config.target_vocabulary < _LARGE_VOCABULARY:
            logits = model(source, target[:, :-1]).float().flatten(0, 1)
            return F.cross_entropy(
                logits, expected, ignore_index=PAD, label_smoothing=self.smoothing, reduction="sum"
            )
        hidden = model.hidden(source, target[:, :-1]).flatten(0, 1)  # (B · T, D)
        kept = (expected != PAD).nonzero().flatten()
        output = model.logits
        loss: Tensor = _LossByRows.apply(  # type: ignore[no-untyped-call]
            hidden[kept], output.weight, output.bias, expected[kept], self.smoothing
        )
        return loss


class _LossByRows(torch.autograd.Function):
    """Summed cross-entropy of hidden (N, D) through weight (V, D) and bias (V).

    With p the softmax of a row, y its token and ε the smoothing, the gradient of its logits is
    p − (1 − ε) e_y − ε / V; only p needs a matrix (rows, V).
    """

    @staticmethod
    def forward(
        context: torch.autograd.function.FunctionCtx,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor,
        expected: Tensor,
        smoothing: float,
    ) -> Tensor:
        bf16 = torch.is_autocast_enabled("cpu")
        kind = torch.get_autocast_dtype("cpu") if bf16 else weight.dtype
        with torch.autocast("cpu", enabled=False):
            rows, matrix, offset = hidden.detach().to(kind), weight.to(kind), bias.to(kind)
            to_logits = matrix.t()
            loss = hidden.new_zeros((), dtype=torch.float32)
            by_hidden = torch.empty_like(rows, dtype=torch.float32)
            by_weight = torch.zeros_like(weight)
            by_bias = torch.zeros_like(bias)
            for start in range(0, len(rows), _ROWS):
                part = slice(start, start + _ROWS)
                tokens = expected[part, None]
                logits = torch.addmm(offset, rows[part], to_logits)  # (rows, V)
                chosen = logits.gather(1, tokens).float()
                share = logits.softmax(-1)
                log_chosen = share.gather(1, tokens).float().clamp_min(1e-38).log()
                sums = chosen - log_chosen  # logsumexp of each row
                loss += (sums - (1 - smoothing) * chosen).sum()
                by_hidden[part] = share @ matrix
                by_weight += share.t() @ rows[part]
                by_bias += share.sum(0, dtype=torch.float32)
            # The other two terms of the gradient, for all rows at once.
            total = rows.sum(0, dtype=torch.float32)
            mean_weight, mean_bias = weight.mean(0), bias.mean()
            loss -= smoothing * (total @ mean_weight + len(rows) * mean_bias)
            by_hidden -= (1 - smoothing) * weight[expected] + smoothing * mean_weight
            by_weight -= smoothing / len(weight) * total
            by_weight.index_add_(0, expected, rows.float(), alpha=smoothing - 1)
            by_bias -= smoothing / len(weight) * len(rows)
            ones = torch.ones_like(expected, dtype=bias.dtype)
            by_bias.index_add_(0, expected, ones, alpha=smoothing - 1)
        context.save_for_backward(by_hidden.to(hidden.dtype), by_weight, by_bias)
        return loss

    @staticmethod
    def backward(
        context: torch.autograd.function.FunctionCtx, gradient: Tensor
    ) -> tuple[Tensor | None, ...]:
        by_hidden, by_weight, by_bias = context.saved_tensors  # type: ignore[attr-defined]
        return by_hidden * gradient, by_weight * gradient, by_bias * gradient, None, None
