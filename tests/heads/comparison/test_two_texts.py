"""Two texts in one model: position by position, and where outputs or texts have other lengths."""

import numpy as np
import pytest

import explorer
from explorer.core import folders
from explorer.core.errors import TraceError
from explorer.heads.comparison.two_texts import compare_inputs
from tests.support.huggingface_families import saved, tiny_model


def shipped(name):
    return explorer.load(folders.checkpoints() / f"{name}.safetensors")


def test_two_texts_are_subtracted_position_by_position():
    model = shipped("reverse")
    one, other = model.trace("1 2 3"), model.trace("3 2 1")
    compared = compare_inputs(model, one, other)
    assert (compared.original, compared.forced) == (one, other)
    assert (one.text, other.text) == ("3 2 1", "1 2 3")
    for site in one.sites:
        expected = one.attention(site) - other.attention(site)
        np.testing.assert_array_equal(compared.attention.difference(site), expected)
    assert len(compared.attention.matched()) == 24


def test_of_outputs_of_other_lengths_the_common_rows_are_compared():
    """The first rows of the whole trace are the oracle: a decoder does not look ahead."""
    model = shipped("english-french")
    one, other = model.trace("I see him."), model.trace("I am late.")
    assert len(one.source_tokens) == len(other.source_tokens)
    lengths = [len(trace.target_tokens) for trace in (one, other)]
    assert lengths[0] != lengths[1]
    compared = compare_inputs(model, one, other)
    rows = min(lengths)
    for whole, cut in ((one, compared.original), (other, compared.forced)):
        assert cut.target_tokens == whole.target_tokens[:rows]
        expected = whole.attention("cross")[:, :, :rows]
        np.testing.assert_allclose(cut.attention("cross"), expected, atol=1e-5)
        expected = whole.attention("decoder")[:, :, :rows, :rows]
        np.testing.assert_allclose(cut.attention("decoder"), expected, atol=1e-5)


def test_texts_of_other_lengths_are_refused_with_their_tokens():
    model = shipped("reverse")
    with pytest.raises(TraceError) as error:
        compare_inputs(model, model.trace("1 2 3"), model.trace("1 2"))
    assert str(error.value) == (
        "Two texts are compared position by position, so both need equally many tokens: “1 2 3” "
        "has 4 (1 2 3 eos), “1 2” has 3 (1 2 eos). Change the other text so that it has 4, or "
        "empty its box for one that fits."
    )


def test_the_tokens_of_a_long_text_are_listed_as_whole_ones():
    model = shipped("english-french")
    one, other = (model.trace(f"The {cat} is asleep.") for cat in ("black cat", "small black cat"))
    tokens = r"\(▁The ▁black ▁cat ▁is ▁asleep \. …\).*\(▁The ▁small ▁black ▁cat ▁is …\)"
    with pytest.raises(TraceError, match=tokens):
        compare_inputs(model, one, other)


def test_of_a_decoder_alone_prompts_have_equal_lengths_and_continuations_are_cut(tmp_path):
    model = explorer.load(saved(tiny_model("llama"), tmp_path / "llama"))
    one = model.trace("5 17 8", max_new_tokens=4)
    other = model.trace("8 17 5", max_new_tokens=2)
    compared = compare_inputs(model, one, other)
    assert compared.original.target_tokens == one.target_tokens[: len(other.target_tokens)]
    rows = len(other.target_tokens)
    expected = one.attention("decoder")[:, :, :rows, :rows] - other.attention("decoder")
    np.testing.assert_allclose(compared.attention.difference("decoder"), expected, atol=1e-5)
    with pytest.raises(TraceError, match=r"has 3 \(5 17 8\), “8 17” has 2 \(8 17\)"):
        compare_inputs(model, one, model.trace("8 17", max_new_tokens=2))
