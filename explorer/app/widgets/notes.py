"""The note in the header: what to look at in an example, facts about a model and its data, or that
the model was not trained for the text.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from unicodedata import category

import streamlit as st

from explorer.app.trace_notes import model_notes, separator_note
from explorer.app.widgets.messages import literal
from explorer.components.labels import describe, purpose, short_credit, source_of_scores
from explorer.core.i18n import say
from explorer.core.look import Request
from explorer.core.source_language import in_target_language, knows_few_words
from explorer.core.trace import Trace
from explorer.core.vocabulary import is_chinese
from explorer.core.word_segmentation import byte_of, is_special
from explorer.core.words import read_tokens
from explorer.model import examples
from explorer.model.catalog import CatalogMember, CatalogModel

LONGEST_SHOWN, LONGEST_ON_PHONE = 40, 16
"""Most characters of a model's name in the closed list of models, on a computer and a phone."""

_LONGEST_IN_HEADER = 200
"""Most characters of a note in the header. A longer note takes the width of the window below it."""

_MOST_NAMED = 4  # characters without a piece
_CAPITALS = 4  # with this many letters, a text in capitals is no abbreviation


def hint(member: CatalogMember, request: Request, trace: Trace, language: str) -> None:
    """Draw a note: what to look at in an example, facts about the model, its task and the data it
    was trained on, or a name that the list of models cuts off. main.css puts it into the header,
    where it takes no height from the picture. While outputs are guessed, it hides what to look at,
    which names them. The hover text names the data its score was measured on."""
    text, example, about_model, source = model_notes(member, trace, language), "", "", ""
    if member.can_trace:
        text = text or text_note(member, request.text, trace, language)
        example = "" if text else examples.hint(member.name, request.text, language)
        credit = short_credit(member.summary.credit, language)
        about_model = " ".join(filter(None, (purpose(member, language), credit)))
        source = source_of_scores(member.summary, language)
    shown, kind = text or example or about_model, "hint-model"
    if text:
        kind = "hint-note"
    elif example:
        kind = "hint-example"
    elif not shown and len(name := describe(member, language)) > LONGEST_ON_PHONE:
        shown = name
        if len(name) <= LONGEST_SHOWN:
            kind = "hint-name"  # main.css shows it on a phone only
    if shown:
        if len(text) > _LONGEST_IN_HEADER:
            kind = "hint-note-long"
        about = "" if text or source in shown else source
        with st.container(key="hint"), st.container(key=kind):
            st.caption(literal(shown), help=literal(about) if about else None)


def text_note(model: CatalogModel, text: str, trace: Trace, language: str) -> str:
    """Note on a translator's problems with this text, or that it is longer than any training text.
    For a model in a directory: that a typed separator does not split the text, which the model
    reads as one. "" if there is nothing to say."""
    if not model.is_own:
        return separator_note(trace, language)
    note = ""
    if model.summary.reads_sentences:
        note = _sentence_note(model, text, trace, language)
    return note or _length_note(trace, model.summary.trained_tokens, language)


def _sentence_note(model: CatalogModel, text: str, trace: Trace, language: str) -> str:
    """Note on a text that a translator may translate badly: another script, its target language,
    few frequent words, characters without a piece, no word, or only capitals. "" otherwise."""
    unknown = list(dict.fromkeys(_read_in_bytes(read_tokens(trace))))
    letters = sum(letter.isalpha() for letter in text)
    if model.summary.reads(text) and not model.reads(text) and not 0 < 2 * len(unknown) < letters:
        kind = "no_chinese" if is_chinese(text) else "chinese"
        return say(f"explore.note_reads_{kind}", language)
    own = model.summary.source_words
    if in_target_language(text, own, model.summary.target_words):
        return say("explore.note_target_language", language)
    if knows_few_words(text, own):
        return say("explore.note_rare_words", language)
    if unknown:
        named = " ".join(map(_name_of, unknown[:_MOST_NAMED])) + (
            " …" if len(unknown) > _MOST_NAMED else ""
        )
        return say("explore.note_characters", language, characters=named)
    if not letters:
        return say("explore.note_no_word", language)
    if letters >= _CAPITALS and text.isupper():
        return say("explore.note_capitals", language)
    return ""


def _name_of(character: str) -> str:
    """The character, or its code if it is invisible and may change the order of the text."""
    unseen = category(character) in ("Cc", "Cf")
    return f"U+{ord(character):04X}" if unseen else character


def _length_note(trace: Trace, most: int, language: str) -> str:
    """Note on a text with more than the `most` tokens of the training, not counting its end and
    padding. "" otherwise."""
    longer = sum(not is_special(token) for token in read_tokens(trace)) > most
    return say("explore.note_longer", language, most=most) if longer else ""


def _read_in_bytes(tokens: Iterable[str]) -> Iterator[str]:
    """Characters that the tokens hold as single bytes."""
    for in_bytes, group in groupby(map(byte_of, tokens), key=lambda byte: byte is not None):
        if in_bytes:
            yield from bytes(byte for byte in group if byte is not None).decode(errors="ignore")
