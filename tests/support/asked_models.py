"""A model that is asked about the trace of one text, without the caches of the app."""

from typing import Any

from explorer.core.look import Request
from explorer.core.sites import SITES
from explorer.heads.request_answers import RequestAnswers
from explorer.model.explorable import ExplorableModel

_MOST_LAYERS = 99


class AskedExplorable(RequestAnswers):
    """As `components.trace_questions.AskedModel`; `asked` counts the calls."""

    def __init__(self, model: Any, text: str, pad_to: int | None = None) -> None:
        numbers = dict.fromkeys(SITES, tuple(range(_MOST_LAYERS)))
        super().__init__(Request(model.name, text), numbers, isinstance(model, ExplorableModel))
        self._model, self._pad_to, self.asked = model, pad_to, 0

    def model(self) -> Any:
        self.asked += 1
        return self._model

    def pad_to(self, model: Any) -> int | None:
        return self._pad_to
