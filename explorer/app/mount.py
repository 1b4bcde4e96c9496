"""The components of the pages: Explore, head views, training replay.

Payloads are cached as bytes: Streamlit sends the browser only what has changed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from explorer.app.component import component
from explorer.app.limited_cache import LimitedCache
from explorer.app.server import access, fetch_route, paths, trace_route
from explorer.app.state import session
from explorer.app.state.address_bar import AskedVisit
from explorer.components.bundle import Component
from explorer.components.live.page import bar_data, component_data
from explorer.components.player.payload import Offer, View
from explorer.components.trace_questions import AskedModel
from explorer.core.i18n import section
from explorer.core.look import Request, Selection
from explorer.core.trace import Trace
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run
from explorer.model.catalog import CatalogMember

if TYPE_CHECKING:  # they import pandas, which has to wait for the first picture
    from explorer.components.head_views.payload import Sides
    from explorer.heads.comparison.trace_comparison import TraceComparison
    from explorer.heads.patching.patching_result import PatchedTexts
    from explorer.heads.reports.head_report import HeadReport

Report = Callable[[dict[str, Any]], None]
"""Callback for the report of a component after a visitor's action in it."""

MISSING = "missing"
"""Event of a component whose weights are no longer on the server."""

MOST_PAYLOAD_BYTES = 2**28
"""Bytes of all cached payloads together."""

_HEAD_VIEW_EVENTS = ("selection",)
_payloads = LimitedCache(MOST_PAYLOAD_BYTES)


@dataclass(frozen=True, slots=True)
class PictureKey:
    """Key of a cached picture. An upload can choose no part of it.

    stamp: of the model or trace, computed by this server: the digest in an uploaded file's
        header is whatever its author wrote.
    times_followed: how often this visitor followed a query. A visitor who comes back to an earlier
        selection by a link is sent other bytes; otherwise the picture would stay where it is.
    report: key of the head report shown in the picture; "" = none.
    other: stamp of the second model, or the second text, of a comparison; "" = none.
    """

    stamp: str
    request: Request
    language: str
    times_followed: int
    report: str = ""
    other: str = ""

    @property
    def mark(self) -> bytes:
        """Eight bytes that tell this picture from others."""
        return sha256(repr(self).encode()).digest()[:8]


def explore(
    members: Sequence[CatalogMember],
    language: str,
    visitor: str,
    asked: AskedVisit,
    on_report: Report,
) -> None:
    """The page Explore, which asks the server for each text.

    visitor: names the visitor's own models to the server.
    on_report: told the "look", and the model that was "fetched" and is to be opened; "" = none.
    """
    fetches = _fetches()
    stamps = tuple((member.name, member.stamp) for member in members)
    payload = _payloads.get(
        ("explore", stamps, language, visitor, asked, repr(fetches)),
        lambda: component_data(
            members,
            language,
            fetches,
            server=paths.TRACE.strip("/"),
            visitor=visitor,
            **asdict(asked),
        ),
        len,
    )
    _mount("explore", payload, on_report, ("look", "fetched"))


def bar(
    members: Sequence[CatalogMember],
    request: Request,
    reading: Mapping[str, Any] | None,
    language: str,
    on_report: Report,
    answered: int,
) -> None:
    """The row of controls with a request. reading: see `reading_choices`.

    answered: number of the last report that was read. on_report: told the "request", and "fetched"
        as by `explore`.
    """
    fetches = _fetches()
    asked, opened = request.unchanged(), reading is not None
    stamps = tuple((member.name, member.stamp) for member in members)
    payload = _payloads.get(
        ("bar", stamps, asked, opened, language, answered, repr(fetches)),
        lambda: bar_data(members, asked, reading, language, answered, fetches),
        len,
    )
    _mount("bar", payload, on_report, ("request", "fetched"))


def _fetches() -> list[dict[str, Any]]:
    return [fetch_route.entry(model) for model in fetch_route.to_fetch()]


def head_grid(
    key: PictureKey,
    initial: Selection,
    trace: Trace,
    report: "HeadReport | None",
    model: AskedModel | None,
    on_report: Report,
    visit: Mapping[str, str] | None = None,
) -> None:
    """The grid of all heads and the selected one.

    model: computes more when a visitor asks; None if there is none.
    visit: query with which guests of a class ask for the trace; None if they cannot, and get it by
        the key in the offer.
    """
    from explorer.components.head_views.payload import head_grid_payload  # late: with pandas

    offer, view = _offer(key, trace, model), _view(trace, initial)
    more = {"visit": visit, "resources": asdict(offer)} if access.is_class_mode() else {}
    payload = _payload(
        ("head_grid", key, view),
        lambda: head_grid_payload(
            trace,
            report,
            language=key.language,
            view=view,
            offer=offer,
            more=more,
        ),
    )
    _mount("head_grid", payload, _of_picture(key, on_report), (*_HEAD_VIEW_EVENTS, MISSING))


def model_comparison(
    key: PictureKey,
    initial: Selection,
    sides: "Sides",
    compared: "TraceComparison",
    on_report: Report,
    patched: "PatchedTexts | None" = None,
) -> None:
    """A text in two models, or the two sides that `sides` names. The key names the second side, and
    what was patched, too, which a link shows with everything: only there it is offered."""
    from explorer.components.head_views.payload import model_comparison_payload  # late: with pandas

    view = replace(_view(compared.original, initial), everything=patched is not None or None)
    payload = _payload(
        ("model_comparison", key, view),
        lambda: model_comparison_payload(
            compared,
            sides,
            patched=patched,
            language=key.language,
            view=view,
        ),
    )
    _mount("model_comparison", payload, _of_picture(key, on_report), _HEAD_VIEW_EVENTS)


def metric_matrix(report: "HeadReport", batch: str, language: str, on_report: Report) -> None:
    """The metrics by layer and head. batch: the name of the sentences."""
    from explorer.components.head_views.payload import metric_matrix_payload  # late: with pandas

    payload = metric_matrix_payload(report, batch, language=language)
    _mount("metric_matrix", payload, on_report, _HEAD_VIEW_EVENTS)


def chart(key: str, payload: bytes) -> object:
    """A chart with the buttons that save it; see `chart_payload`. Returns the browser's report of a
    point that was clicked, or None."""
    return component("chart")(key=key, data=payload, on_point_change=lambda: None).point


def words(names: Sequence[str], label: str, targets: str, language: str) -> None:
    """A `?` button that opens explanations of the words in a table; see `words_payload`."""
    from explorer.components.head_views.payload import words_payload  # late: with pandas

    data = words_payload(names, label, targets, language=language)
    component("words")(key="words", data=data, width="content")


def replay(
    key: str, run: Run, others: Sequence[Run], language: str, link: str, opens: bool
) -> tuple[bool, object]:
    """Draw a run in its present state, with the curves of `others`. Returns whether the link was
    followed, and the browser's report of a cell to open in Explore, or None.

    key: the run's name in the URL of its probe traces.
    link, opens: see `replay_payload`.
    """
    from explorer.components.training_replay.payload import replay_payload  # late: Train alone

    payload = replay_payload(
        key,
        run,
        language=language,
        others=others,
        link=link,
        opens=opens,
        more=_shared(key, others) if access.is_class_mode() else {},
    )
    shown = component("training_replay")(
        key="training_replay",
        data=payload,
        on_link_change=lambda: None,
        on_cell_change=lambda: None,
    )
    return bool(shown.link), shown.cell


def _shared(key: str, others: Sequence[Run]) -> dict[str, Any]:
    """The names by which guests of a class get a run and those compared with it."""
    return {"shared": {"run": key, "others": [training_launcher.key_of(run) for run in others]}}


def lesson(payload: bytes, on_report: Report) -> None:
    """The card of a lesson, or the offer of the first one."""
    _mount("lesson", payload, on_report, ("card", "start", "leave"))


_OF_PICTURES = ("guess_question", "picture_")
"""How sentences of a training's replay begin that a vote on the picture of a head needs."""


def class_bar(language: str) -> None:
    """In class mode, above the host's player: whether guests follow, and the vote."""
    _mount_class("bar", language, "")


def class_tools(language: str, address: str) -> None:
    """In class mode, in the share menu: who is present, Follow me and the code.

    address: of the app, as guests reach it.
    """
    _mount_class("tools", language, address)


def _mount_class(part: str, language: str, address: str) -> None:
    trained = section("training_replay", language)
    pictures = {key: trained[key] for key in trained if key.startswith(_OF_PICTURES)}
    data = {
        "part": part,
        "language": language,
        "strings": {**section("class_tools", language), **pictures},
        "address": address,
    }
    payload = json.dumps(data, ensure_ascii=False).encode()
    component("classroom")(key=f"class-{part}", data=payload)


def _payload(key: tuple[Any, ...], compute: Callable[[], bytes]) -> bytes:
    """A payload of the picture `key[1]`, computed once, followed by the picture's mark. The browser
    names the picture by the mark in its reports."""
    return _payloads.get(key, lambda: compute() + key[1].mark, len)


def _offer(key: PictureKey, trace: Trace, model: AskedModel | None) -> Offer:
    """Questions a browser can ask about the trace of a picture."""
    return trace_route.offer((key.stamp, key.request), trace, model)


def _view(trace: Trace, initial: Selection) -> View:
    """Initial view of a head picture, in pieces: the selection without the fields that the trace
    lacks, and the whole pattern unless the visitor hides later rows. Step None = the last."""
    seen, _ = initial.within(trace)
    at_end = seen.step == len(trace.target_tokens) and seen.ahead is not False
    step = None if at_end else seen.step
    whole = seen.without_server().with_flags_of(Selection())
    ahead = seen.ahead is not False  # the grid beside it shows all rows too
    return View.of(whole, step=step, ahead=ahead)


def _of_picture(key: PictureKey, on_report: Report) -> Report:
    """`on_report`, ignoring selections made in an earlier picture. Such a report may arrive after
    the new picture was drawn and would be taken for a selection in it."""

    def report_of_picture(report: Mapping[str, Any]) -> None:
        selection = report.get("selection")
        earlier = isinstance(selection, Mapping) and selection.get("picture") != key.mark.hex()
        on_report({**report, "selection": None} if earlier else dict(report))

    return report_of_picture


def _mount(name: Component, data: bytes, on_report: Report, events: tuple[str, ...]) -> None:
    callback = partial(_pass_on, name, on_report)
    callbacks: dict[str, Any] = {f"on_{event}_change": callback for event in events}
    component(name)(key=name, data=data, **callbacks)


def _pass_on(key: str, on_report: Report) -> None:
    on_report(session.widget_value(key) or {})
