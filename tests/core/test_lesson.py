"""What a lesson's file may hold, and the sentence for each thing it may not.

The lessons in folders; and those that ship, in English and Chinese.
"""

import re

import pytest

from explorer.core import folders
from explorer.core.errors import LessonError
from explorer.core.i18n import LANGUAGES, OWN_LANGUAGES
from explorer.core.lesson import (
    LONGEST_FIELDS,
    LONGEST_HEAD,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_CARDS,
    asked_of_trace,
    fill_in,
    find_lessons,
    lesson_files,
    read_lesson,
)
from explorer.core.lesson_answers import ANSWERS
from explorer.core.run_answers import RUN_ANSWERS

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


def test_what_stands_before_the_first_card_is_for_the_teacher_and_the_end():
    title = "# One\n\nminutes: 8\n\naims: Read a row: all of it.\nsummary: A row adds up to 1."
    lesson = read_lesson(file_of(card_of(f"{VIEW}\n{ASKED}"), card_of(), title=title))
    assert (lesson.title, lesson.minutes, lesson.questions) == ("One", 8, 1)
    assert lesson.aims == "Read a row: all of it."
    assert lesson.summary == "A row adds up to 1."
    without = read_lesson(file_of(card_of()))
    assert (without.minutes, without.aims, without.summary) == (None, "", "")


def test_a_card_may_ask_for_a_deed_in_the_place_of_a_question():
    header = f"{VIEW}\ndeed: ablate cross.1.2; unmask decoder.1.0 2 4\nbecause: {{output}}"
    lesson = read_lesson(file_of(card_of(f"{header}\nlink: heads?model=reverse"), card_of()))
    asking, other = lesson.cards
    assert asking.deed.texts() == ("ablate cross.1.2", "open decoder.1.0 2 4")
    assert (asking.link, asked_of_trace(asking)) == ("heads?model=reverse", {"output"})
    assert [asking.asks, other.asks] == [True, False]
    assert lesson.questions == 1
    run = card_of("view: run=recorded/reverse&moment=25\ndeed: omit mask")
    assert read_lesson(file_of(run)).cards[0].deed.texts() == ("omit mask",)


def test_what_the_trace_says_is_filled_in():
    assert fill_in("{weight} on “{largest key}”", {"weight": "0.97", "largest key": "9"}) == (
        "0.97 on “9”"
    )


REFUSED = {
    "no_title": [file_of(card_of(), title="Query and key"), file_of(card_of(), title="# "), ""],
    "no_cards": ["# Title", "# Title\n---\nview: x", f"# Title\n{card_of()}\n---"],
    "too_many_cards": [file_of(*[card_of()] * (MOST_CARDS + 1))],
    "two_pages": [file_of(card_of(), card_of("view: run=recorded/reverse&moment=25"))],
    "no_text": [file_of(card_of(text=""))],
    "long_text": [file_of(card_of(text="x" * (LONGEST_TEXT + 1)))],
    "bad_head": [
        file_of(card_of(), title=f"# One\n{line}") for line in ("hello", "colour: red", "# Two")
    ],
    "head_twice": [file_of(card_of(), title="# One\nminutes: 8\nminutes: 8")],
    "bad_minutes": [
        file_of(card_of(), title=f"# One\nminutes: {got}")
        for got in ("", "0", "181", "8.5", "+8", "٨", "8 min")
    ],
    "long_head": [
        file_of(card_of(), title=f"# One\n{name}: {'x' * (limit + 1)}")
        for name, limit in LONGEST_HEAD.items()
    ],
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
        file_of(card_of("view: run=recorded/reverse")),
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
    "bad_deed": [
        file_of(card_of(f"{VIEW}\ndeed: {got}"))
        for got in ("jump", "ablate", "row cross.1.2 2", "ablate cross.1.2; jump", ";")
    ],
    "bad_run_deed": [
        file_of(card_of("view: run=recorded/reverse&moment=25\ndeed: ablate cross.1.2"))
    ],
    "deed_and_question": [file_of(card_of(f"{VIEW}\n{ASKED}\ndeed: ablate cross.1.2"))],
    "bad_card_link": [
        file_of(card_of(f"{VIEW}\nlink: {got}"))
        for got in ("https://example.org", "javascript:alert(1)", "../heads", "heads?a=<b>")
    ],
    "unknown_answer": [
        file_of(card_of(f"{VIEW}\n{ASKED.replace('largest key', '__import__')}")),
        file_of(card_of(text="{0.__class__}")),
        file_of(card_of("view: run=recorded/reverse&moment=25", "{score}")),
        file_of(card_of(text="{loss}")),
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


OF_A_HEAD = {"no_title", "long_title", "bad_head", "head_twice", "bad_minutes", "long_head"}
OF_A_CARD = REFUSED.keys() - OF_A_HEAD - {"no_cards", "too_many_cards", "two_pages"}


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
    head = "\n".join(f"{name}: {'x' * limit}" for name, limit in LONGEST_HEAD.items())
    lesson = read_lesson(file_of(card, title=f"# {'x' * LONGEST_TITLE}\n{head}"))
    assert (len(lesson.aims), len(lesson.summary)) == tuple(LONGEST_HEAD.values())
    assert len(lesson.title) == LONGEST_TITLE
    assert lesson.cards[0].question == longest["question"]


CARD = "# {title}\n\n---\nview: model=reverse&text=1+2\n---\nA sentence.\n"
SHIPPED = find_lessons(lesson_files([folders.SHIPPED_LESSONS]))


def test_a_lesson_is_shown_in_the_language_asked_for_or_in_another(tmp_path):
    (tmp_path / "one.en.md").write_text(CARD.format(title="One"))
    (tmp_path / "one.zh.md").write_text(CARD.format(title="一"), encoding="utf-8")
    (tmp_path / "two.zh.md").write_text(CARD.format(title="二"), encoding="utf-8")
    (tmp_path / "three.zh.md").write_text(CARD.format(title="三"), encoding="utf-8")
    (tmp_path / "three.en.md").write_text(CARD.format(title="Three"))
    (tmp_path / "README.md").write_text("About these lessons.")
    found = find_lessons(lesson_files([tmp_path]))
    assert not found.broken
    assert list(found.lessons) == ["one", "three", "two"]
    assert [list(found.lessons[name]) for name in ("one", "three")] == [["en", "zh"]] * 2
    assert found.in_language("one", "zh").title == "一"
    assert found.in_language("two", "en").title == "二"
    assert found.in_language("two", "en").language == "zh"
    assert found.in_language("three", "fr").title == "Three"
    assert found.in_language("four", "en") is None


def test_a_broken_file_is_named_and_the_rest_work(tmp_path):
    (tmp_path / "good.en.md").write_text(CARD.format(title="Good"))
    (tmp_path / "bad.en.md").write_text("no title")
    (tmp_path / "nolanguage.md").write_text(CARD.format(title="Good"))
    (tmp_path / "bytes.en.md").write_bytes(b"\xff\xfe\x00")
    found = find_lessons(lesson_files([tmp_path]))
    assert list(found.lessons) == ["good"]
    assert {one.path.name for one in found.broken} == {"bad.en.md", "nolanguage.md", "bytes.en.md"}
    for one in found.broken:
        for language in LANGUAGES:
            assert one.path.name in one.in_language(language)
    (no_language,) = [str(one) for one in found.broken if one.path.name == "nolanguage.md"]
    assert ".en.md, .zh.md" in no_language


def test_a_teachers_lesson_replaces_the_one_of_the_same_name(tmp_path):
    (tmp_path / "the-mask.en.md").write_text(CARD.format(title="My mask"))
    found = find_lessons(lesson_files([folders.SHIPPED_LESSONS, tmp_path]))
    assert found.in_language("the-mask", "en").title == "My mask"
    assert list(found.lessons) == list(SHIPPED.lessons)


def test_the_name_of_a_lesson_may_have_a_dot(tmp_path):
    (tmp_path / "part.1.en.md").write_text(CARD.format(title="Part 1"))
    assert list(find_lessons(lesson_files([tmp_path])).lessons) == ["part.1"]


def test_the_lessons_that_ship_begin_with_query_and_key():
    assert not SHIPPED.broken
    assert next(iter(SHIPPED.lessons)) == "query-and-key"


@pytest.mark.parametrize("name", SHIPPED.lessons)
def test_both_languages_of_a_lesson_show_and_ask_the_same(name):
    written = SHIPPED.lessons[name]
    assert set(OWN_LANGUAGES) <= set(written)
    english, chinese = written["en"], written["zh"]
    assert 4 <= len(english.cards) <= 7
    assert english.minutes == chinese.minutes is not None
    for lesson, full_stop in ((english, "."), (chinese, "。")):
        assert lesson.aims.endswith(full_stop)
        assert 2 <= lesson.summary.count(full_stop) <= 3
    for one, other in zip(english.cards, chinese.cards, strict=True):
        assert (one.view, one.highlight, one.answer) == (other.view, other.highlight, other.answer)
        assert len(one.choices) == len(other.choices)
        assert not re.search(r"[\u4e00-\u9fff]", " ".join(one.sentences))


@pytest.mark.parametrize("name", SHIPPED.lessons)
def test_a_chinese_lesson_has_no_english_left(name):
    lesson = SHIPPED.lessons[name]["zh"]
    names = r"\{[^}]*\}|“[^”]*”|q·k|softmax|logit|bos|eos|pad|ChatGPT"
    for card in lesson.cards:
        for sentence in (card.text, card.question, card.because):
            assert not re.search(r"[A-Za-z]{2,}", re.sub(names, "", sentence)), sentence
    assert re.search(r"[\u4e00-\u9fff]", lesson.title)


def test_the_page_for_teachers_has_a_lesson_that_is_read_and_names_every_function():
    page = (folders.IMPORT_ROOT / "docs" / "teach.md").read_text("utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (written,) = [block for block in blocks if block.startswith("# ")]
    assert read_lesson(written).questions == 1
    named = set(re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)))
    assert {*ANSWERS, *RUN_ANSWERS} - named == set()
