from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.heads.contributions import leave_one_out as module
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.leave_one_out import leave_one_out
from explorer.model.hooks import edit
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
    whole = leave_one_out(model, source, target, labels)
    monkeypatch.setattr(module, "LARGEST_PASS", numbers)
    found = leave_one_out(model, source, target, labels)
    assert found.shape == (21, 26)
    np.testing.assert_allclose(found, whole, atol=1e-5)


def test_no_rounding_is_left_at_later_positions(make_model):
    """Products of other sizes round otherwise, in a model as wide as the translators."""
    config = replace(PRIMES, d_model=256, heads=8, target_vocabulary=2000)
    target = torch.arange(3, 12)[None]
    found = leave_one_out(make_model(config), torch.tensor([[5, 9, 3, 2]]), target, target + 1)
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
