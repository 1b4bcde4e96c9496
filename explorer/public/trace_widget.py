"""The stepping player as a notebook widget; needs the extra `notebook`."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import anywidget
import traitlets

from explorer.components.bundle import script
from explorer.components.exported_page import page
from explorer.components.notebook import selection_in
from explorer.components.player.payload import (
    Offer,
    View,
    initial_head_of,
    player_payload,
    view_of_changes,
)
from explorer.components.trace_questions import TRACE_QUESTIONS, methods_offered, offered
from explorer.core.errors import ExplorerError, TraceError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.core.look import Request, Selection
from explorer.core.trace import Trace
from explorer.heads.request_answers import RequestAnswers

_PROBLEM = "#problem { margin: 0 20px; font: 14px/20px system-ui, sans-serif; }"

_NAMED = ("site", "layer", "head", "step", "cell")


@dataclass(frozen=True, eq=False)
class _Answers(RequestAnswers):
    """Answers of a model that stays in memory."""

    _: KW_ONLY
    of: Any
    known: dict[Hashable, Trace] = field(default_factory=dict)

    def model(self) -> Any:
        return self.of

    def once(self, name: Hashable, compute: Callable[[], Trace]) -> Trace:
        if name not in self.known:
            self.known[name] = compute()
        return self.known[name]


class TraitPlaceError(TraceError, traitlets.TraitError):  # type: ignore[misc]
    """A place that the trace does not have: traits that were set together are set back."""


class TraceWidget(anywidget.AnyWidget):  # type: ignore[misc]
    """The stepping player; what is changed in it or in these traits, changes in both.

    trace: what is shown; another one after *Edit*.
    site, layer, head: head None = the mean of the layer. Layers and heads count from 0.
    step: from 1; None = a trace without steps.
    cell: (query, key) of the cell whose arithmetic is shown, from 0; None = no cell. Its query is
        that of the step, except in the encoder.

    A trait that is set to what the trace does not have raises `TraceError`.
    """

    _esm = script("notebook_frame")
    _page = traitlets.Unicode().tag(sync=True)
    _height = traitlets.Int().tag(sync=True)
    _payload = traitlets.Bytes().tag(sync=True)
    _request = traitlets.Dict().tag(sync=True)
    trace = traitlets.Instance(Trace, read_only=True)
    site = traitlets.Any().tag(sync=True)
    layer = traitlets.Any().tag(sync=True)
    head = traitlets.Any().tag(sync=True)
    step = traitlets.Any().tag(sync=True)
    cell = traitlets.Any().tag(sync=True)

    def __init__(
        self, trace: Trace, model: Any, request: Request, view: View, language: str, height: int
    ) -> None:
        """model: of `request`, whose trace this is; None = a trace alone."""
        self._model, self._language = model, language
        self.set_trait("trace", trace)
        whole = page(
            language,
            say("explore.page", language),
            component="player",
            more_styles=_PROBLEM,
            body='<p id="problem" role="status"></p>\n<main id="player"></main>',
            data=[],
            run="notebook_player",
        )
        super().__init__(_page=whole, _height=height)
        self.on_msg(self._hear)
        seen = replace(view, **initial_head_of(trace, view), what_if=model is not None)
        self._show(trace, request, seen)

    def _show(self, trace: Trace, request: Request, view: View) -> None:
        self._asked, self._answers = request, None
        if self._model is not None:
            from explorer.model.explorable import ExplorableModel  # late, with torch

            numbers = {site: trace.layer_numbers(site) for site in trace.sites}
            own = isinstance(self._model, ExplorableModel)
            self._answers = _Answers(request, numbers, own, of=self._model)
        names = tuple(one.name for one in offered(trace, self._answers))
        offer = Offer(names=names, methods=methods_offered(trace, self._answers))
        payload = player_payload(trace, language=self._language, view=view, offer=offer)
        with self.hold_sync(), self.hold_trait_notifications():
            self.set_trait("trace", trace)
            self._payload, self._request = payload, _to_json(request)
            for name in _NAMED:
                setattr(self, name, getattr(view, name))
            if self.step is None:  # the last one
                self.step = len(trace.target_tokens) or None

    @traitlets.validate(*_NAMED)  # type: ignore[untyped-decorator]
    def _existing(self, proposal: Mapping[str, Any]) -> Any:
        name = proposal["trait"].name
        named = {one: getattr(self, one) for one in _NAMED} | {name: proposal["value"]}
        try:
            return getattr(selection_in(self.trace, **named), name)
        except TraceError as error:
            raise TraitPlaceError(error.key, **error.facts) from None

    @traitlets.observe("cell")  # type: ignore[untyped-decorator]
    def _to_the_row(self, _: object) -> None:
        if self.cell is not None and self.site != "encoder":
            self.step = self.cell[0] + 1

    def _hear(self, _: object, content: Mapping[str, Any], __: object) -> None:
        """What `notebookPlayer.ts` sends: a question about the trace, or a request in its place."""
        try:
            if "asked" in content:
                self._change(**content["asked"])
                return
            question = TRACE_QUESTIONS[content["question"]]
            place = question.place(content["place"], self.trace)
            data = question.answer(self.trace, self._answers, place)
        except ExplorerError as error:
            refused = error.in_language(self._language)
            self.send({"id": content.get("id"), "refused": refused})
        else:
            self.send({"id": content["id"]}, [data])

    def _change(self, request: Mapping[str, Any], view: Mapping[str, object]) -> None:
        wanted = replace(
            self._asked,
            forced=tuple((step, token) for step, token in request["forced"]),
            interventions=Interventions.parse(request["interventions"]),
        )
        trace, changed = traced(self._model, wanted), View()
        if wanted.is_changed:
            changed = view_of_changes(wanted, trace, traced(self._model, wanted.unchanged()))
        seen, _ = Selection.reported(view).within(trace)
        more = {"what_if": True, "forced": changed.forced, "original": changed.original}
        self._show(trace, wanted, View.of(seen, **more))


def traced(model: Any, request: Request) -> Trace:
    """The trace of a request. Raises `ExplorerError`."""
    trace: Trace = model.trace(
        **request.given, **request.interventions.options(), force=dict(request.forced)
    )
    return trace


def _to_json(request: Request) -> dict[str, Any]:
    """`LiveRequest` of `modelWorker.ts`."""
    return {
        "model": request.model,
        "text": request.text,
        "pad": request.pad,
        "forced": [list(one) for one in request.forced],
        "interventions": list(request.interventions.texts()),
        "pair": request.pair,
        "reading": None,
    }
