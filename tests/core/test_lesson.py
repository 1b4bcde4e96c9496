"""What a lesson's file may hold, and the sentence for each thing it may not."""

import pytest

from explorer.core.errors import LessonError
from explorer.core.lesson import (
    LONGEST_FIELDS,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_CARDS,
    asked_of_trace,
    fill_in,
    read_lesson,
)

VIEW = "view: ?model=reverse&text=7+3+9&step=2&lang=zh"
ASKED = "question: Which?\nchoices: 7 | 3\nanswer: largest key\nbecause: it has {weight}."


def file_of(*cards: str, title: str = "# Query and key") -> str:
    return f"{title}\n\n" + "\n\n".join(cards) + "\n"


def card_of(header: str = VIEW, text: str = "The orange row asks.") -> str:
    return f"---\n{header}\n---\n{text}"


def test_a_lesson_is_read():
    asking = card_of(f"{VIEW}\nhighlight: inside_part-cell\n{ASKED}", "Row “{query token}”\nasks.")
    lesson = read_lesson(file_of(asking, card_of()))
    assert lesson.title == "Query and key"
    first, second = lesson.cards
    assert first.text == "Row “{query token}” asks."
    assert first.view == {"model": "reverse", "text": "7 3 9", "step": "2"}
    assert (first.highlight, first.question) == ("inside_part-cell", "Which?")
    assert (first.choices, first.answer) == (("7", "3"), "largest key")
    assert asked_of_trace(first) == {"query token", "largest key", "weight"}
    assert (second.question, second.choices, second.answer) == ("", (), "")
    assert asked_of_trace(second) == frozenset()


def test_what_the_trace_says_is_filled_in():
    assert fill_in("{weight} on “{largest key}”", {"weight": "0.97", "largest key": "9"}) == (
        "0.97 on “9”"
    )


REFUSED = {
    "no_title": [file_of(card_of(), title="Query and key"), file_of(card_of(), title="# "), ""],
    "no_cards": ["# Title", "# Title\n---\nview: x", f"# Title\n{card_of()}\n---"],
    "too_many_cards": [file_of(*[card_of()] * (MOST_CARDS + 1))],
    "no_text": [file_of(card_of(text=""))],
    "long_text": [file_of(card_of(text="x" * (LONGEST_TEXT + 1)))],
    "long_title": [file_of(card_of()).replace("# ", "# " + "x" * LONGEST_TITLE, 1)],
    "long_field": [
        file_of(card_of(f"{VIEW}\n{ASKED.replace(old, old + 'x' * limit)}"))
        for old, limit in (
            ("question: Which?", LONGEST_FIELDS["question"]),
            ("7 | 3", LONGEST_FIELDS["choices"]),
        )
    ]
    + [
        file_of(card_of(f"{VIEW}\n{ASKED}{'x' * LONGEST_FIELDS['because']}")),
        file_of(card_of(f"{VIEW}\nexported: {'x' * (LONGEST_TEXT + 1)}")),
    ],
    "bad_field": [file_of(card_of(f"{VIEW}\ncolour: red")), file_of(card_of(f"{VIEW}\nhello"))],
    "field_twice": [file_of(card_of(f"{VIEW}\n{VIEW}"))],
    "bad_view": [
        file_of(card_of("highlight: map")),
        file_of(card_of("view: model=reverse")),
        file_of(card_of("view: hello")),
    ],
    "bad_highlight": [file_of(card_of(f"{VIEW}\nhighlight: .map > div"))],
    "half_a_question": [
        file_of(card_of(f"{VIEW}\nquestion: Which?")),
        file_of(card_of(f"{VIEW}\nbecause: so.")),
        file_of(card_of(f"{VIEW}\nquestion: Which?\nchoices: 1 | 2")),
    ],
    "choices_count": [file_of(card_of(f"{VIEW}\n{ASKED.replace('7 | 3', '7')}"))],
    "choices_equal": [file_of(card_of(f"{VIEW}\n{ASKED.replace('7 | 3', '7 | 3 | 7')}"))],
    "unknown_answer": [
        file_of(card_of(f"{VIEW}\n{ASKED.replace('largest key', '__import__')}")),
        file_of(card_of(text="{0.__class__}")),
    ],
}


@pytest.mark.parametrize(
    ("key", "text"), [(key, text) for key, texts in REFUSED.items() for text in texts]
)
def test_what_is_no_lesson_is_refused_in_one_sentence(key, text):
    with pytest.raises(LessonError) as raised:
        read_lesson(text)
    assert raised.value.key == key
    for language in ("en", "zh"):
        sentence = raised.value.in_language(language)
        assert "\n" not in sentence
        assert len(sentence) < 400


OF_A_CARD = REFUSED.keys() - {"no_title", "no_cards", "too_many_cards", "long_title"}


@pytest.mark.parametrize("key", sorted(OF_A_CARD))
def test_the_card_is_named(key):
    title, one = REFUSED[key][0].split("\n\n", 1)
    with pytest.raises(LessonError, match="card 2") as raised:
        read_lesson(f"{title}\n\n{card_of()}\n\n{one}")
    assert raised.value.key == key


def test_a_file_without_cards_is_told_what_begins_one():
    with pytest.raises(LessonError, match="---"):
        read_lesson("# Title")


def test_parts_may_be_as_long_as_the_card_has_room():
    longest = {name: "x" * limit for name, limit in LONGEST_FIELDS.items()}
    longest["choices"] = "7 | " + longest["choices"]
    header = "\n".join(f"{name}: {value}" for name, value in longest.items())
    card = card_of(f"{VIEW}\nanswer: largest key\n{header}", "x" * LONGEST_TEXT)
    lesson = read_lesson(file_of(card, title="# " + "x" * LONGEST_TITLE))
    assert len(lesson.title) == LONGEST_TITLE
    assert lesson.cards[0].question == longest["question"]
