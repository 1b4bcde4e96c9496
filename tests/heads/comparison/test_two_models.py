"""Two models on one text: forced to one output, each by itself, and texts they cut differently."""

from dataclasses import replace

import numpy as np
import pytest

import explorer
from explorer.core import folders
from explorer.core.errors import TraceError, VocabularyError
from explorer.core.vocabulary import SymbolVocabulary
from explorer.heads.comparison.attention_comparison import compare
from explorer.heads.comparison.two_models import compare_models
from explorer.model.explorable import ExplorableModel


def shipped(name):
    return explorer.load(folders.checkpoints() / f"{name}.safetensors")


def numbered_otherwise(model, symbols):
    """The same weights, but other names for the symbols."""
    vocabulary = SymbolVocabulary(tuple(symbols))
    checkpoint = replace(
        model.checkpoint, source_vocabulary=vocabulary, target_vocabulary=vocabulary
    )
    return ExplorableModel(checkpoint, "other")


def test_the_second_model_is_forced_to_the_output_of_the_first_and_decodes_by_itself():
    reverse, sort = shipped("reverse"), shipped("sort")
    original = reverse.trace("7 3 9 1", pad_to=7)
    compared = compare_models(original, sort)
    assert compared.original is original
    assert compared.changed.text == "1 3 7 9"
    assert compared.forced.text == original.text == "1 9 3 7"
    assert compared.forced.facts["given"]
    assert compared.forced.integrity().ok.all()
    expected = sort.trace("7 3 9 1", target="1 9 3 7", pad_to=7)
    np.testing.assert_array_equal(compared.forced.attention("cross"), expected.attention("cross"))
    np.testing.assert_array_equal(compared.forced.losses, expected.losses)
    total = original.losses.sum() - expected.losses.sum()
    assert compared.log_probability == pytest.approx(float(total))
    assert compare(original, compared.forced).sites == original.sites


def test_a_model_compared_with_itself_differs_in_nothing(explorable):
    original = explorable.trace("1 2 3")
    compared = compare_models(original, explorable)
    assert compared.same_text
    assert compared.log_probability == pytest.approx(0, abs=1e-5)
    assert np.abs(compared.attention.difference("cross")).max() < 1e-6


@pytest.mark.parametrize("text", ["The black cat is asleep.", "Tom, come here!", "Where is she?"])
def test_punctuation_is_a_piece_and_no_byte_of_the_same_label(text):
    original, early = shipped("english-french").trace(text), shipped("english-french-early")
    expected = early.trace(text, target=original.text)
    assert expected.predicted_tokens == original.predicted_tokens
    compared = compare_models(original, early)
    np.testing.assert_array_equal(compared.forced.attention("cross"), expected.attention("cross"))
    np.testing.assert_array_equal(compared.forced.losses, expected.losses)


def test_tokens_are_matched_by_label_whatever_their_number(explorable):
    other = numbered_otherwise(explorable, ["3", "甲", "1", "2", "<b>"])
    original = explorable.trace("1 2 3")
    compared = compare_models(original, other)
    assert compared.forced.target_tokens == original.target_tokens
    assert compared.forced.predicted_tokens == original.predicted_tokens


def test_pieces_of_two_trainings_are_matched_though_their_numbers_differ():
    late, early = shipped("english-french"), shipped("english-french-early")
    original = late.trace("The cat is sleeping on the bed.")
    compared = compare_models(original, early)
    assert compared.forced.source_tokens == original.source_tokens
    assert compared.forced.predicted_tokens == original.predicted_tokens


def test_the_first_other_token_of_the_source_is_named():
    text = "My grandmother's caterpillars marched."
    french, chinese = shipped("english-french"), shipped("chinese-english")
    original = french.trace(text)
    with pytest.raises(TraceError, match="cuts this text into other tokens") as caught:
        compare_models(original, chinese)
    facts = caught.value.facts
    labels = chinese.source_vocabulary.labels(chinese.source_ids(text))
    place = facts["position"] - 1
    assert original.source_tokens[:place] == labels[:place]
    assert (original.source_tokens[place], labels[place]) == (facts["a"], facts["b"])


def test_an_output_that_the_other_model_cannot_say_is_refused(explorable):
    original = explorable.trace("1 2", target="甲 1")
    other = numbered_otherwise(explorable, ["1", "2", "3", "<b>", "x"])
    with pytest.raises(TraceError, match="has no token “甲”, which is token 1 of the output"):
        compare_models(original, other)


def test_a_text_too_long_for_the_other_model_is_refused(explorable):
    original = shipped("reverse").trace("1 2 3 " * 5)
    with pytest.raises(VocabularyError, match="16"):
        compare_models(original, explorable)


def test_models_without_an_encoder_are_compared_on_a_prompt(continuing, explorable, make_model):
    checkpoint = continuing.checkpoint
    model = make_model(checkpoint.model.config, seed=8)
    other = ExplorableModel(replace(checkpoint, model=model), "other")
    original = continuing.trace("1 2 3")
    compared = compare_models(original, other)
    assert compared.forced.predicted_tokens == original.predicted_tokens
    assert compared.changed.text == other.trace("1 2 3").text
    assert np.abs(compared.attention.difference("decoder")).max() > 0
    with pytest.raises(TraceError, match="only one of the two has an encoder"):
        compare_models(original, explorable)
