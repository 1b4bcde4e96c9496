from dataclasses import replace

import numpy as np
import pytest
import torch

import explorer
from explorer.heads.contributions import leave_one_out as module
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.layer_contributions import layer_contributions
from explorer.heads.contributions.leave_one_out import leave_one_out
from explorer.model.explorable import chosen_ids
from explorer.model.hooks import edit
from explorer.model.huggingface.export import export_directory
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.left_out import transformer_left_out
from tests.support.huggingface_families import tiny_model
from tests.support.slow_leave_one_out import slow_leave_one_out
from tests.support.tiny_configs import PRIMES

TEXT, TARGET = "1 2 <b> 3", "3 3 2 1"


def losses(explorable, **options):
    return explorable.trace(TEXT, target=TARGET, **options).losses.astype(np.float64)


def hidden_source(key: int) -> list[tuple]:
    encoder = [("encoder", None, None, query, key) for query in range(5) if query != key]
    return encoder + [("cross", None, None, query, key) for query in range(5)]


def test_a_source_token_is_worth_what_a_trace_without_it_loses(explorable):
    found = contributions(explorable, TEXT, "leave_one_out", target=TARGET).matrix
    whole = losses(explorable)
    for key in range(5):
        without = losses(explorable, edit_mask=hidden_source(key))
        np.testing.assert_allclose(found[:, key], without - whole, atol=1e-5)
        assert np.abs(found[:, key]).max() > 1e-3


def test_a_token_of_the_prefix_is_worth_what_later_rows_of_a_trace_without_it_lose(explorable):
    found = contributions(explorable, TEXT, "leave_one_out", target=TARGET).matrix
    whole = losses(explorable)
    for key in range(4):
        hidden = [("decoder", None, None, query, key) for query in range(key + 1, 5)]
        without = losses(explorable, edit_mask=hidden)
        later = found[key + 1 :, 5 + key]
        np.testing.assert_allclose(later, (without - whole)[key + 1 :], atol=1e-5)
        assert np.abs(later).max() > 1e-3
        assert not found[:key, 5 + key].any()


def test_the_own_row_of_a_token_loses_its_vector(explorable):
    found = contributions(explorable, TEXT, "leave_one_out", target=TARGET).matrix
    whole = losses(explorable)
    for key in range(5):
        kept = torch.ones(1, 5, 1)
        kept[0, key] = 0

        def without_vector(value, kept=kept):
            return value * kept if value.size(1) == 5 else value  # the full pass, not one step

        model = explorable.transformer
        source = torch.tensor([[3, 4, 6, 5, 2]])
        with torch.no_grad(), edit(model, {"decoder.embedding.scaled": without_vector}):
            logits = model(source, torch.tensor([[1, 5, 5, 4, 3]]))[0]
        label = [5, 5, 4, 3, 2][key]
        loss = -float(logits[key].log_softmax(-1)[label])
        assert found[key, 5 + key] == pytest.approx(loss - whole[key], abs=1e-5)


@pytest.mark.parametrize("numbers", [1, 400])
def test_batches_of_any_size_give_the_same(make_model, monkeypatch, numbers):
    model = make_model(PRIMES)
    output = [1, *range(3, 17), *range(3, 9), 2]
    source, target, labels = (
        torch.tensor([row]) for row in ([5, 9, 3, 12, 2], output[:-1], output[1:])
    )
    whole = leave_one_out(transformer_left_out(model, source, target), labels[0])
    monkeypatch.setattr(module, "LARGEST_PASS", numbers)
    found = leave_one_out(transformer_left_out(model, source, target), labels[0])
    assert found.shape == (21, 26)
    np.testing.assert_allclose(found, whole, atol=1e-5)


def test_no_rounding_is_left_at_later_positions(make_model):
    """Products of other sizes round otherwise, in a model as wide as the translators."""
    config = replace(PRIMES, d_model=256, heads=8, target_vocabulary=2000)
    target = torch.arange(3, 12)[None]
    passes = transformer_left_out(make_model(config), torch.tensor([[5, 9, 3, 2]]), target)
    found = leave_one_out(passes, target[0] + 1)
    later = torch.ones(9, 9).triu(1).bool()
    assert not found[:, 4:][later].any()


def test_a_token_of_a_decoder_alone_is_worth_what_a_trace_without_it_loses(continuing):
    found = contributions(continuing, "1 2", "leave_one_out", target="3 1").matrix

    def losses(**options):
        return continuing.trace("1 2", target="3 1", **options).losses.astype(np.float64)

    for key in range(4):
        hidden = [("decoder", None, None, query, key) for query in range(key + 1, 5)]
        fallen = losses(edit_mask=hidden) - losses()
        np.testing.assert_allclose(found[key + 1 :, key], fallen[key + 1 :], atol=1e-5)
        assert not found[:key, key].any()


LIBRARY = ("gpt2", "llama", "gemma2", "gpt_oss", "opt", "bart", "marian", "pegasus", "t5")


@pytest.mark.parametrize("name", LIBRARY)
def test_a_model_of_the_library_is_held_to_a_loop_with_masks_of_its_own(tiny, name):
    model = tiny(name)
    text, target = "5 17 8 30", "9 4 33"
    found = contributions(model, text, "leave_one_out", target=target).matrix
    trace = model.trace(text, target=target)
    inputs = model._inputs_of(trace)
    source = None if inputs.source is None else inputs.source[0].tolist()
    labels = chosen_ids(trace)[0].tolist()
    expected = slow_leave_one_out(tiny_model(name), source, inputs.target[0].tolist(), labels)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert np.abs(found).max() > 1e-2


@pytest.mark.parametrize("name", ["gpt2", "llama", "marian", "t5"])
def test_padding_of_the_library_has_no_part(tiny, name):
    model = tiny(name)
    plain = model.trace("5 17 8 30", target="9 4 33")
    read = len(plain.source_tokens) or plain.facts["prompt"]
    padded = model.trace("5 17 8 30", target="9 4 33", pad_to=read + 3)
    expected = layer_contributions(model, plain, "leave_one_out")
    found = layer_contributions(model, padded, "leave_one_out")
    after = slice(read, read + 3) if plain.source_tokens else slice(0, 3)
    whole = np.delete(found.whole, after, 1)
    assert not found.whole[:, after].any()
    np.testing.assert_allclose(whole[-len(expected.whole) :], expected.whole, rtol=0, atol=1e-5)
    assert not whole[: -len(expected.whole)].any()


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_batches_of_the_library_may_have_any_size(tiny, name, monkeypatch):
    whole = contributions(tiny(name), "5 17 8 30", "leave_one_out", target="9 4").matrix
    monkeypatch.setattr(module, "LARGEST_PASS", 1)
    found = contributions(tiny(name), "5 17 8 30", "leave_one_out", target="9 4").matrix
    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "text"), [("reverse", "7 3 9 1 4"), ("induction", "7 3 甲 a 7")])
def test_a_trained_model_and_its_export_lose_the_same(name, text, tmp_path):
    own = explorer.load(name)
    export_directory(own, tmp_path / name)
    found = contributions(open_directory(tmp_path / name), text, "leave_one_out")
    expected = contributions(own, text, "leave_one_out")
    assert found.tokens == expected.tokens
    np.testing.assert_allclose(found.matrix, expected.matrix, rtol=0, atol=1e-4)
    assert np.abs(expected.matrix).max() > 1
