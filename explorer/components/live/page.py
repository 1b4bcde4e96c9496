"""The HTML of a live page: one file with a model, or the first page of the static site."""

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from explorer.components.bundle import script, styles
from explorer.components.exported_page import inline, plotly_element
from explorer.components.labels import (
    describe,
    purpose,
    short_credit,
    source_hint,
    source_of_scores,
)
from explorer.components.live.model_script import model_text, script_size
from explorer.components.payload import PROJECT
from explorer.components.player.sentences import player_sentences
from explorer.components.static_site_files import (
    NOT_STARTED_STYLES,
    linked_plotly,
    linked_script,
    linked_styles,
    not_started,
)
from explorer.core.i18n import LANGUAGES, html_language, in_a_row, say, section
from explorer.core.look import Request
from explorer.core.sites import Head
from explorer.core.word_segmentation import is_special
from explorer.core.words import source_words
from explorer.model import examples
from explorer.model.catalog import CatalogMember, UploadedTrace
from explorer.model.listed_model import ListedModel

SECTIONS = ("live", "explore", "errors", "player")
"""Sections of sentences that every live page can show."""

CLASS_SECTIONS = ("training_replay", "class_tools")
"""Those that the site can show besides, to a guest of a class."""

_GRID = ("axes_natural", "colon", "figure_heads")
"""Sentences of the section "heads" in the grid of all heads without measurements, which a guest of
a class sees."""

_LIST = ("minutes", "done", "score_short", "score_all")
"""Sentences of the section "lessons" in the list of lessons, which only the site has."""

_BAR = {
    "live": ("go", "go_title"),
    "explore": (
        *("fetch", "fetch_cancel", "fetch_once", "fetch_done", "fetch_about", "fetch_runs"),
        *("model", "source", "pair", "pair_hint", "random", "examples", "pad", "pad_choice"),
        *("languages", "source_language", "target_language", "own_language", "any_language"),
        *("chat", "chat_title"),
    ),
}
"""Sentences of the row of controls alone, by section."""

_NOT_IN_BAR = ("intro", "about", "scored", "sourceWords", "targetWords")
"""What the row does not read of a model, most of its description."""

_STATIC_SITE_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
_FILE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
)

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{not_started_styles}#not-started.at-once {{ visibility: visible; }}
</style>
{styles}
</head>
<body class="page">
<div id="live">{not_started}</div>
<script type="application/json" id="page-data">{data}</script>
<script type="text/plain" id="worker">{worker}</script>
{scripts}
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A model of a live page.

    data: of its checkpoint file, weights as float16.
    initial_head: that it shows first; None = chosen in the browser.
    """

    listed: ListedModel
    data: bytes
    initial_head: Head | None = None

    @property
    def name(self) -> str:
        return self.listed.name


@dataclass(frozen=True, slots=True)
class LinkedLesson:
    """A lesson beside the first page of the static site; title and aims by language."""

    name: str
    title: Mapping[str, str]
    aims: Mapping[str, str]
    minutes: int | None = None


def static_site_page(models: Sequence[LiveModel], lessons: Sequence[LinkedLesson]) -> str:
    """The first page of the static site; its scripts, models and lessons are files beside it."""
    listed = [asdict(lesson) for lesson in lessons]
    strings = {language: _strings(language, of_site=True) for language in LANGUAGES}
    described = [_described(model) for model in models]
    data = _data(described, strings, {"lessons": listed, "opening": None, "site": True})
    scripts = f"{linked_plotly('')}\n{linked_script('live', '')}"
    return _filled(_STATIC_SITE_POLICY, data, linked_styles("live", ""), scripts)


def component_data(
    members: Sequence[CatalogMember],
    language: str,
    fetches: Sequence[Mapping[str, str]] = (),
    **asks: str | int,
) -> bytes:
    """The data of Explore as a component of the app's page, with sentences in `language` alone.

    fetches: the models to fetch, see `fetch_route.entry`.
    asks: further fields of `ComponentData` in `exploreComponent.ts`.
    """
    strings = {language: _strings(language, of_site=True)}
    more: dict[str, Any] = {"lessons": [], "opening": None, "site": False, "language": language}
    more["fetches"] = fetches
    described = [_described_member(member) for member in members]
    data = _data(described, strings, {**more, **asks})
    return _json(data).encode()


def bar_data(
    members: Sequence[CatalogMember],
    request: Request,
    reading: Mapping[str, Any] | None,
    language: str,
    answered: int,
    fetches: Sequence[Mapping[str, str]] = (),
) -> bytes:
    """The data that `barComponent.ts` describes. reading: see `reading_choices`. fetches: as of
    `component_data`."""
    described = [_described_member(member) for member in members]
    read = None if request.reading is None else asdict(request.reading)
    data: dict[str, Any] = {
        "models": [
            {name: value for name, value in one.items() if name not in _NOT_IN_BAR}
            for one in described
        ],
        "language": language,
        "strings": {
            name: section(some, language)[name] for some, names in _BAR.items() for name in names
        },
        "request": {
            "model": request.model,
            "text": request.text,
            "pad": request.pad,
            "pair": request.pair,
            "reading": read,
            "forced": [],
            "interventions": [],
        },
        "reading": reading,
        "answered": answered,
        "fetches": fetches,
    }
    return _json(data).encode()


def file_page(model: LiveModel, text: str | None = None, pad: int = 0) -> str:
    """One file with a model, for disk and without a network.

    text, pad: initial text and number of padding tokens; text None = the model's first example.
    """
    initial_text = None if text is None else {"text": text, "pad": pad}
    strings = {language: _strings(language, of_site=False) for language in LANGUAGES}
    data = _data(
        [_described(model)], strings, {"lessons": [], "opening": initial_text, "site": False}
    )
    name = html.escape(model.name)
    parts = (  # the script last: it looks for the elements before it
        f'<script type="text/plain" data-model="{name}">{model_text(model.data)}</script>',
        plotly_element(),
        f"<script>{inline(script('live'))}</script>",
    )
    return _filled(_FILE_POLICY, data, f"<style>{styles('live')}</style>", "\n".join(parts))


def _filled(policy: str, data: Mapping[str, Any], styles: str, scripts: str) -> str:
    return _PAGE.format(
        policy=policy,
        title=html.escape(say("live.page_title")),
        not_started_styles=NOT_STARTED_STYLES,
        not_started=not_started(LANGUAGES),
        styles=styles,
        data=_json(data).replace("<", "\\u003c"),
        worker=inline(script("live_worker")),
        scripts=scripts,
    )


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _strings(language: str, *, of_site: bool) -> dict[str, Mapping[str, str]]:
    """The sentences by section. of_site: also those for lessons and for a guest of a class."""
    names = SECTIONS + CLASS_SECTIONS if of_site else SECTIONS
    strings = {name: section(name, language) for name in names}
    strings["player"] = player_sentences(language)
    if of_site:
        for some, chosen in (("heads", _GRID), ("lessons", _LIST)):
            own = section(some, language)
            strings[some] = {name: own[name] for name in chosen}
    return strings


def _data(
    models: Sequence[Mapping[str, Any]], strings: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    """The data that `pageData.ts` describes. models: their descriptions. strings: by language."""
    return {
        "project": PROJECT,
        "languages": {
            code: {"name": name, "tag": html_language(code)} for code, name in LANGUAGES.items()
        },
        "models": models,
        "strings": strings,
        **more,
    }


def _described(model: LiveModel) -> dict[str, Any]:
    """Description of a model for the page before its file is loaded, `LiveModel` in
    `liveModel.ts`."""
    return {
        **_listed(model.listed),
        "bytes": len(model.data),
        "scriptBytes": script_size(model.data),
        "sha256": hashlib.sha256(model.data).hexdigest(),
        "opening": None if model.initial_head is None else model.initial_head._asdict(),
    }


def _described_member(member: CatalogMember) -> dict[str, Any]:
    """As `_described`, of a model or trace that a server has; and what is said of it where there is
    nothing else to say."""
    if not member.can_trace:
        return _described_trace(member)
    summary = member.summary
    return {
        **_listed(member),
        **_WITHOUT_FILE,
        "about": {language: _about(member, language) for language in LANGUAGES},
        "scored": {language: source_of_scores(summary, language) for language in LANGUAGES},
    }


_WITHOUT_FILE = {"bytes": 0, "scriptBytes": 0, "sha256": "", "opening": None}


def _described_trace(member: UploadedTrace) -> dict[str, Any]:
    """The description of a trace without its model, which reads no text."""
    nothing = dict.fromkeys(LANGUAGES, "")
    words = [word.label for word in source_words(member.trace) if not is_special(word.label)]
    return {
        "name": member.name,
        "words": " ".join(words),
        "label": {language: describe(member, language) for language in LANGUAGES},
        **dict.fromkeys(("intro", "placeholder", "about", "scored"), nothing),
        **dict.fromkeys(("examples", "symbols", "sentences", "sourceWords", "targetWords"), ()),
        **dict.fromkeys(("alone", "library", "pairs", "draws"), False),
        **_WITHOUT_FILE,
        "longest": 0,
        "usual": 0,
        "kind": "",
        "mask": "",
    }


def _listed(listed: ListedModel) -> dict[str, Any]:
    """What a list knows of a model, of `LiveModel` in `liveModel.ts`."""
    summary = listed.summary
    return {
        "name": listed.name,
        "words": None,
        "label": {language: describe(listed, language) for language in LANGUAGES},
        "intro": {language: _introduction(listed, language) for language in LANGUAGES},
        "placeholder": {language: source_hint(listed, language) for language in LANGUAGES},
        "examples": [
            {
                "text": text,
                "hint": {one: examples.hint(listed.name, text, one) for one in LANGUAGES},
            }
            for text in listed.examples
        ],
        "symbols": summary.symbols,
        "alone": summary.decoder_only,
        "library": not listed.is_own,
        "kind": listed.kind,
        "mask": listed.mask,
        "pairs": listed.reads_pairs,
        "draws": listed.draws_texts,
        "longest": summary.trained_tokens,
        "usual": summary.usual_tokens,
        "sentences": summary.sentences,
        "sourceWords": sorted(summary.source_words),
        "targetWords": sorted(summary.target_words),
    }


def _about(listed: ListedModel, language: str) -> str:
    """The task of the model, and the data it learned from."""
    parts = (purpose(listed, language), short_credit(listed.summary.credit, language))
    return " ".join(filter(None, parts))


def _introduction(listed: ListedModel, language: str) -> str:
    """The task of the model and how to begin, for a first visit; "" for a library model."""
    if not listed.is_own:
        return ""
    begin = say(f"live.begin_{listed.kind}", language)
    return in_a_row([purpose(listed, language), begin], language)
