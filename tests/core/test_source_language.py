import pytest

from explorer.core.source_language import frequent_words, in_target_language, knows_few_words
from tests.support.shared_examples import shared_examples
from tests.support.toy_sentences import SENTENCES

EXAMPLES = shared_examples("text_note")
ENGLISH, FRENCH = zip(*SENTENCES, strict=True)


def test_the_most_frequent_words_come_first_in_lower_case():
    assert frequent_words(["The cat. The dog!", "the end, a dog"])[:2] == ["the", "dog"]
    texts = [
        f"{chr(0x3B1 + n % 24)}{chr(0x430 + n // 24 % 32)}{n // 768 * 'x'} a a a"
        for n in range(1500)
    ]
    assert len(frequent_words(texts)) == 1000
    assert frequent_words(texts)[0] == "a"


def test_a_script_without_spaces_has_no_frequent_words():
    lines = [f"{chr(0x4E00 + n)}{chr(0x5E00 + n)}。" for n in range(4000)]
    assert frequent_words(lines) == []


@pytest.mark.parametrize(("known", "other"), [(ENGLISH, FRENCH), (FRENCH, ENGLISH)])
def test_sentences_of_the_other_language_are_told(known, other):
    source, target = frozenset(frequent_words(known)), frozenset(frequent_words(other))
    assert not any(in_target_language(text, source, target) for text in known)
    assert all(in_target_language(text, source, target) for text in other)
    assert not any(in_target_language(text, frozenset(), target) for text in other)


@pytest.mark.parametrize(
    ("model", "text", "note"),
    [
        (EXAMPLES["models"][one["model"]], one["text"], one["note"])
        for one in EXAMPLES["notes"]
        if "source" in EXAMPLES["models"][one["model"]]
    ],
)
def test_a_text_is_told_by_its_frequent_words(model, text, note):
    """The examples are those of the test of `textNotes.ts`."""
    source, target = set(model["source"]), set(model["target"])
    assert in_target_language(text, source, target) == (note == "target_language")
    if note not in ("target_language", "nonsense"):  # which are said before
        assert knows_few_words(text, source) == (note == "rare_words")
    assert not knows_few_words(text, frozenset())
