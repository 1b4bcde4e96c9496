"""The outputs of a model of the library, continued as one batch, for beam search."""

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.model.huggingface.decoding import DecodingRules
from explorer.model.huggingface.passes import Stepper
from explorer.model.huggingface.tokens import Tokens
from explorer.model.threads import threads_for


class LibraryContinuations:
    """See `beam_search.Continuations`. A token that must come first is the only choice there, with
    its own probability."""

    def __init__(
        self, stepper: Stepper, tokens: Tokens, rules: DecodingRules, parameters: int
    ) -> None:
        self.first, self.last = rules.first, rules.last
        self.ends = frozenset(rules.ends.tolist())
        self.labels, self._tokens = tokens.labels, tokens
        self._stepper, self._rules, self._parameters = stepper, rules, parameters

    def start(self) -> Tensor:
        return self._after(self.first)

    def follow(self, rows: Tensor, tokens: Tensor) -> Tensor:
        self._stepper.take(rows)
        self._stepper.feed(tokens)
        return self._after(len(tokens))

    def text(self, ids: Sequence[int]) -> str:
        return self._tokens.decode([number for number in ids if number not in self.ends])

    def _after(self, tokens: int) -> Tensor:
        with threads_for(self._parameters, tokens):
            _, logits = self._stepper.step()
        step = self._stepper.rows
        after = self._rules.without_excluded(logits.double().log_softmax(-1), step)
        if step in self._rules.forced:
            only = torch.full_like(after, -torch.inf)
            only[:, self._rules.forced[step]] = after[:, self._rules.forced[step]]
            return only
        return after
