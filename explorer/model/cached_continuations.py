"""The outputs of a model trained here, continued as one batch with its cache, for beam search."""

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.core.vocabulary import BOS, EOS, Vocabulary
from explorer.model.masks import padding_mask
from explorer.model.threads import threads_for
from explorer.model.transformer import Transformer


class CachedContinuations:
    """See `beam_search.Continuations`. Padding and the beginning are never chosen."""

    def __init__(
        self,
        model: Transformer,
        vocabulary: Vocabulary,
        source: Tensor,
        prompt: Sequence[int],
        last: int,
    ) -> None:
        """source: (1, S). prompt: ids after which the output comes. last: the last step."""
        self.first, self.last, self.ends = len(prompt) + 1, last, frozenset([EOS])
        self.labels, self.text = vocabulary.labels, vocabulary.decode
        self._model, self._parameters = model, model.config.parameters
        self._prompt, mask = prompt, padding_mask(source)
        with threads_for(self._parameters, source.size(1)):
            self._cache = model.start(model.encode(source, mask), mask)

    def start(self) -> Tensor:
        for token in (BOS, *self._prompt):
            after = self._after(torch.tensor([token], device=self._model.device))
        return after

    def follow(self, rows: Tensor, tokens: Tensor) -> Tensor:
        self._cache.take(rows.to(self._model.device))
        return self._after(tokens.to(self._model.device))

    def _after(self, tokens: Tensor) -> Tensor:
        with threads_for(self._parameters, len(tokens)):
            after = self._model.step(tokens, self._cache).double().log_softmax(-1).cpu()
        after[:, :EOS] = -torch.inf
        return after
