"""Notes for a reader on a text that a model was not trained for, in a line."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from unicodedata import category

from explorer.core.i18n import say
from explorer.core.source_language import in_target_language, knows_few_words
from explorer.core.trace import Trace, typed_separator
from explorer.core.vocabulary import is_chinese
from explorer.core.word_segmentation import byte_of
from explorer.core.words import content
from explorer.model.catalog import CatalogModel

_MOST_NAMED = 4  # characters without a piece
_CAPITALS = 4  # with this many letters, a text in capitals is no abbreviation


def text_note(model: CatalogModel, text: str, trace: Trace, language: str) -> str:
    """Note on a translator's problems with this text, or that it is longer than any training text.
    For a model in a directory: that a typed separator does not split the text, which the model
    reads as one. "" if there is nothing to say."""
    if not model.is_own:
        separator = typed_separator(trace)
        return say("explore.note_separator", language, separator=separator) if separator else ""
    note = ""
    if model.summary.reads_sentences:
        note = _sentence_note(model, text, trace, language)
    return note or _length_note(trace, model.summary.trained_tokens, language)


def _sentence_note(model: CatalogModel, text: str, trace: Trace, language: str) -> str:
    """A note if a translator does not read this script, if the text is in its target language, has
    few words that it often saw, characters without a piece, no word, or only capitals. ""
    otherwise."""
    unknown = list(dict.fromkeys(_read_in_bytes(trace.source_tokens)))
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
    longer = content(trace)[0].sum() > most
    return say("explore.note_longer", language, most=most) if longer else ""


def _read_in_bytes(tokens: Iterable[str]) -> Iterator[str]:
    """Characters that the tokens hold as single bytes."""
    for in_bytes, group in groupby(map(byte_of, tokens), key=lambda byte: byte is not None):
        if in_bytes:
            yield from bytes(byte for byte in group if byte is not None).decode(errors="ignore")
