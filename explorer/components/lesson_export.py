"""A page with a lesson: its cards, and a player for each text of theirs.

The browser prints the cards with their questions and, from a new page on, the answers.

Next and Back work from disk and without a network; outside the static site the page is one file.
The page has the inside of heads for cards that open a cell.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from explorer.components.bundle import styles
from explorer.components.exported_page import (
    LARGEST_PAGE,
    back_link,
    checked_language,
    data_element,
    page,
    trace_elements,
)
from explorer.components.lesson.payload import ShownLesson, lesson_payload
from explorer.components.player.payload import Offer, View, initial_head_of, player_payload
from explorer.components.static_site_files import back_address
from explorer.components.trace_questions import AskedModel
from explorer.core.i18n import say
from explorer.core.trace import Trace

_STYLES = """
#lesson { position: sticky; z-index: 5; top: 0; background: Canvas; }
html[data-projector] { --lesson-type: 20px; --lesson-small-type: 19px; }
#player {
  --player-height: calc(100dvh - var(--lesson-height, 0px) - var(--back-height, 0px));
}
.sheet { display: none; }
@media print {
  body > :not(.sheet) { display: none !important; }
  .sheet { display: block; color: #000; background: #fff; font: 11pt/1.4 system-ui, sans-serif; }
  .sheet h1 { font-size: 16pt; }
  .sheet .answers { break-before: page; }
  .sheet li { margin-bottom: 10pt; break-inside: avoid; }
  .sheet p { margin: 0 0 3pt; }
  .sheet .question { font-weight: 600; }
  .sheet .choice { margin-right: 2em; }
}
"""


@dataclass(frozen=True, slots=True)
class LessonText:
    """A text that cards refer to.

    cards: their indices.
    view: the forced tokens that its player shows.
    model: of the trace, for the inside of its layers; None = the page has nothing of it.
    """

    trace: Trace
    cards: tuple[int, ...]
    view: View = field(default_factory=View)
    model: AskedModel | None = None


def lesson_page(
    shown: ShownLesson,
    texts: Sequence[LessonText],
    language: str = "en",
    static_site: str | None = None,
) -> str:
    """A page that leads through a lesson. A card without a text shows its sentence alone.

    shown: with all of its cards; the page of the next lesson lies beside this one.
    static_site: the folder of the static site, relative to the page; None = one HTML file alone.

    Raises `TraceError` on an unknown language.
    """
    language = checked_language(language)
    back = "" if static_site is None else back_address(language, static_site)
    card = data_element('id="lesson-payload"', lesson_payload(shown, language, back))

    def with_data(data: Sequence[str]) -> str:
        return page(
            language,
            say("lessons.page_title", language, title=shown.title),
            component="player",
            more_styles=_STYLES,
            body=back_link(static_site, language)
            + '<header id="lesson"></header>\n<main id="player"></main>\n'
            f'<template id="lesson-parts"><style>{styles("lesson")}</style></template>',
            data=[card, *data],
            run="exported_lesson",
            static_site=static_site,
        )

    space = (LARGEST_PAGE - len(with_data([]).encode())) // max(len(texts), 1)
    return with_data([_text_element(shown, text, language, space) for text in texts])


def _text_element(shown: ShownLesson, text: LessonText, language: str, space: int) -> str:
    """The element with all data of a text on the page, within `space` bytes if possible."""
    trace = text.trace
    looks = [card.look for n in text.cards if (card := shown.cards[n]) is not None and card.look]
    views = [View(**look) for look in looks] or [View()]
    views = [replace(view, **initial_head_of(trace, view)) for view in views]
    first = replace(views[0], forced=text.view.forced, original=text.view.original)
    opened = any(view.cell is not None for view in views)

    def payload(offer: Offer) -> str:
        data = player_payload(trace, language=language, view=first, offer=offer)
        return data_element("data-payload", data, compress=True)

    parts = trace_elements(trace, views, text.model if opened else None, payload, space)
    cards = " ".join(map(str, text.cards))
    return "\n".join([f'<div data-cards="{cards}">', *parts, "</div>"])
