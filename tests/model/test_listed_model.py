import pytest

from explorer.model.listed_model import ModelSummary
from tests.support.catalog_members import summary

SIZES = {"max_length": 66, "encoder_layers": 1, "decoder_layers": 2, "heads": 3}


def test_a_model_of_symbols_reads_known_ones_as_many_as_fit():
    model = summary("12345", trained_tokens=6, most_tokens=12)
    assert model.reads("1 2 3 4 5 1 2 3 4 5 1 2")
    assert not model.reads("1 2 3 4 5 1 2 3 4 5 1 2 3")
    assert not model.reads("1 2 x")
    assert not model.reads(" ")


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("The cat sees a dog.", True),
        ("我今天看见一只狗。", True),
        ("7 3 9 1 4", False),
        ("甲 乙 丙 丁", False),
        ("", False),
        ("word " * 65, True),
        ("word " * 66, False),
        ("x" * 20_001, False),
    ],
)
def test_a_model_of_sentences_reads_texts_with_a_word_that_may_fit(text, reads):
    assert ModelSummary.of(SIZES, (), {}).reads(text) is reads


@pytest.mark.parametrize(
    "facts",
    [
        {
            "credit": 7,
            "examples": "no",
            "longest": "6",
            "task": ["copy"],
            "bleu": "high",
            "test_sources": -1,
        },
        {"examples": [3, "", "a" * 9999], "longest": 0, "bleu": 101, "exact_match": float("nan")},
        {"test_sources": 2.5},
    ],
)
def test_malformed_facts_are_ignored(facts):
    without = ModelSummary.of(SIZES, (), {})
    assert (without.task, without.credit) == ("", "")
    assert (without.exact_match, without.bleu, without.test_sources) == (None, None, None)
    assert ModelSummary.of(SIZES, (), facts) == without


def test_the_longest_training_text_is_no_longer_than_what_fits():
    assert ModelSummary.of(SIZES, (), {"longest": 6}).trained_tokens == 6
    assert ModelSummary.of(SIZES, (), {"longest": 600}).trained_tokens == 65
    assert ModelSummary.of(SIZES, (), {}).trained_tokens == 65
