"""A lesson as a sheet to print: its questions and, on a page of their own, the answers."""

import html

from explorer.components.lesson.payload import ShownCard, ShownLesson
from explorer.core.i18n import html_language, say

_PAGE = """<!doctype html>
<html lang="{tag}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<title>{page_title}</title>
<style>
html {{ color-scheme: light; }}
body {{ max-width: 42rem; margin: 1rem auto; padding: 0 1rem; color: #000; background: #fff; \
font: 1rem/1.4 system-ui, sans-serif; overflow-wrap: anywhere; }}
h1 {{ margin: 0; font-size: 1.5rem; }}
p {{ margin: .25rem 0; }}
.name {{ float: right; }}
.name::after {{ content: ""; display: inline-block; width: 12em; border-bottom: 1px solid; }}
article {{ margin-top: 1.25rem; break-inside: avoid; }}
.card {{ color: #555; font-size: .875rem; }}
.question {{ font-weight: 600; }}
ul {{ display: flex; flex-wrap: wrap; gap: .25rem 2rem; margin: .25rem 0; padding: 0; \
list-style: none; }}
li::before {{ content: "\\2610\\a0\\a0"; }}
.answers {{ margin-top: 3rem; break-before: page; }}
@media print {{ body {{ max-width: none; margin: 0; padding: 0; font-size: 11pt; }} }}
</style>
</head>
<body>
<section>
<p class="name">{name}: </p>
<h1>{title}</h1>
{facts}
<p>{about}</p>
{questions}
</section>
<section class="answers">
<h1>{title} · {answers_title}</h1>
{answers}
{summary}
</section>
</body>
</html>
"""


def lesson_sheet(shown: ShownLesson, language: str) -> str:
    """The sheet as an HTML page of its own. Cards that ask nothing are left out.

    shown: with all of its cards.
    language: of what stands around the questions.
    """

    def told(key: str, **facts: object) -> str:
        return html.escape(say(f"lessons.{key}", language, **facts))

    asked = [
        (told("sheet_card", number=number), card)
        for number, card in enumerate(shown.cards, start=1)
        if card is not None and card.right is not None
    ]
    time = told("minutes", minutes=shown.minutes) if shown.minutes else ""
    aims = told("sheet_aims", aims=shown.aims) if shown.aims else ""
    learnt = told("learnt", summary=shown.summary) if shown.summary else ""
    return _PAGE.format(
        tag=html_language(language),
        page_title=told("sheet_title", title=shown.title),
        name=told("sheet_name"),
        title=html.escape(shown.title),
        facts=_paragraph(" · ".join(filter(None, (time, aims)))),
        about=told("sheet_about"),
        questions="\n".join(_question(place, card) for place, card in asked),
        answers_title=told("sheet_answers"),
        answers="\n".join(_answer(place, card, language) for place, card in asked),
        summary=_paragraph(learnt),
    )


def _question(place: str, card: ShownCard) -> str:
    choices = "".join(f"<li><bdi>{html.escape(choice)}</bdi></li>" for choice in card.choices)
    return (
        f'<article>\n<p class="card">{place}</p>\n<p>{html.escape(card.text)}</p>\n'
        f'<p class="question">{html.escape(card.question)}</p>\n<ul>{choices}</ul>\n</article>'
    )


def _answer(place: str, card: ShownCard, language: str) -> str:
    facts = {"answer": card.choices[card.right or 0], "because": card.because}
    right = say("lessons.seen" if card.because else "lessons.seen_alone", language, **facts)
    return (
        f'<article>\n<p class="card">{place}</p>\n'
        f'<p class="question">{html.escape(card.question)}</p>\n'
        f"<p>{html.escape(right)}</p>\n</article>"
    )


def _paragraph(text: str) -> str:
    """A paragraph with a text that is escaped already; "" without one."""
    return f"<p>{text}</p>" if text else ""
