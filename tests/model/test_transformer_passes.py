from functools import partial

import pytest
import torch

from explorer.core.errors import EvaluationBatchError, VocabularyError
from explorer.core.interventions import Interventions
from explorer.core.vocabulary import BOS, EOS
from explorer.model.transformer_passes import forced_batch

PAIRS = [("1 2", "3"), ("1", "1 2 3")]


def test_eos_is_not_a_query_and_padding_has_no_label(explorable):
    batch = explorable.passes.pairs(PAIRS, "two")
    assert batch.queries.ids.tolist() == [[1, 5, 0, 0], [1, 3, 4, 5]]
    assert batch.labels.ids.tolist() == [[5, 2, 0, 0], [3, 4, 5, 2]]
    assert batch.labels.real.tolist() == [[True, True, False, False], [True] * 4]
    assert (batch.targets, batch.gold()) == ("given", None)


def test_texts_have_the_greedy_output_as_target(explorable):
    texts = ["1 2 3", "甲", "3 3"]
    batch = explorable.passes.texts(texts, "mine")
    assert batch.targets == "greedy"
    for text, labels in zip(texts, batch.labels.ids.tolist(), strict=True):
        assert explorable.target_vocabulary.decode(labels) == explorable.trace(text).text


def test_a_text_that_is_too_long_is_refused(explorable):
    for key, pair in [("long_source", ("1 " * 11, "1")), ("long_target", ("1", "1 " * 11))]:
        with pytest.raises(VocabularyError) as caught:
            explorable.passes.pairs([pair], "long")
        assert caught.value.key == key


def test_each_layer_is_seen_as_in_a_trace(explorable):
    batch = explorable.passes.pairs(PAIRS, "two")
    layers = list(explorable.passes.attentions(batch))
    assert [(layer.site, layer.layer) for layer in layers] == [
        *[("encoder", 0), ("decoder", 0), ("decoder", 1), ("cross", 0), ("cross", 1)]
    ]
    for number, (source, target) in enumerate(PAIRS):
        trace = explorable.trace(source, target=target, capture="full")
        for layer in layers:
            queries, keys = (len(side(layer.site)) for side in (trace.queries, trace.keys))
            unmasked = torch.zeros_like(layer.unmasked[number])
            unmasked[:queries, :keys] = torch.tensor(trace.mask(layer.site))
            assert torch.equal(layer.unmasked[number], unmasked)
            for own, expected in [
                (layer.weights[number, :, :queries, :keys], trace.attention(layer.site)),
                (layer.output[number, :, :queries], trace.head_output(layer.site)),
            ]:
                other = torch.tensor(expected[layer.layer])
                torch.testing.assert_close(own, other, atol=1e-6, rtol=1e-5)


@torch.no_grad()
def test_each_copy_of_the_batch_has_its_own_gates(explorable):
    """Gate 0 is a removed head, in the encoder, which runs for each copy then, and elsewhere."""
    passes, batch = explorable.passes, explorable.passes.pairs(PAIRS, "two")
    heads = explorable.transformer.config.all_heads
    for number in (1, 4, 14):
        gates = torch.ones(3, len(heads))
        gates[1, number] = 0
        removed = Interventions.gather(ablate=[heads[number]])
        found = passes.logits(batch, gates.repeat_interleave(2, 0)).unflatten(0, (3, 2))
        torch.testing.assert_close(found[0], passes.logits(batch), atol=1e-6, rtol=0)
        expected = passes.logits(batch, interventions=removed)
        torch.testing.assert_close(found[1], expected, atol=1e-6, rtol=0)
        assert (found[0] - found[1]).abs().max() > 1e-4
        torch.testing.assert_close(found[0], found[2], atol=1e-6, rtol=0)


def test_padding_and_the_beginning_are_never_chosen(explorable):
    logits = torch.tensor([[[9.0, 8.0, 1.0, 2.0], [0.0, 9.0, 3.0, 2.0]]])
    assert explorable.passes.choices(logits).tolist() == [[3, EOS]]


def test_the_kinds_of_ids_are_those_of_the_vocabulary():
    batch = forced_batch([[5, EOS], [EOS]], [[BOS, 6, EOS], [BOS, EOS]], "two")
    assert batch.source.ends.tolist() == [[False, True], [True, False]]
    assert batch.source.special.tolist() == [[False, True], [True, True]]
    assert batch.labels.content_numbers.tolist() == [[0, -1], [-1, -1]]


def test_a_decoder_alone_predicts_the_next_tokens_of_a_text(continuing):
    passes = continuing.passes
    batch = passes.texts(["1 2 3", "甲"], "mine")
    assert batch.source is None
    assert batch.queries.ids.tolist() == [[BOS, 3, 4, 5], [BOS, 7, 0, 0]]
    assert batch.labels.ids[batch.labels.real].tolist() == [3, 4, 5, 7]
    trace = continuing.trace("1 2 3", max_new_tokens=1, capture="full")
    (first, second) = passes.attentions(batch)
    assert [(one.site, one.layer) for one in (first, second)] == [("decoder", 0), ("decoder", 1)]
    assert torch.equal(second.unmasked[0], torch.tensor(trace.mask("decoder")))
    expected = torch.tensor(trace.attention("decoder")[1])
    torch.testing.assert_close(second.weights[0], expected, atol=1e-6, rtol=1e-5)
    with pytest.raises(EvaluationBatchError, match="pairs cannot be given"):
        passes.pairs(PAIRS, "two")


@torch.no_grad()
def test_a_head_of_a_decoder_alone_can_be_removed(continuing):
    passes = continuing.passes
    batch = passes.texts(["1 2 3", "甲"], "mine")
    gates = torch.ones(2, 6)
    gates[:, 4] = 0
    found = passes.logits(batch, gates)
    removed = Interventions.gather(ablate=[("decoder", 1, 1)])
    torch.testing.assert_close(found, passes.logits(batch, interventions=removed))
    assert (found - passes.logits(batch)).abs().max() > 1e-4


@torch.no_grad()
def test_the_last_row_of_a_continued_text_predicts_its_next_token(continuing):
    passes = continuing.passes
    batch = passes.continued(["1 2 3", "甲"], "mine")
    assert batch.labels.real.tolist() == [[False, False, False, True], [False, True, False, False]]
    row = passes.logits(batch)[0, 3]
    assert passes.logit("3") == 5
    candidates = continuing.trace("1 2 3", max_new_tokens=1).steps().query("step == 4")
    share = candidates.set_index("token").probability["3"]
    assert float(row.softmax(-1)[5]) == pytest.approx(share, abs=1e-6)
    with pytest.raises(VocabularyError, match="2 tokens"):
        passes.logit("1 2")


@torch.no_grad()
def test_the_last_row_of_a_begun_output_predicts_its_next_token(explorable, continuing):
    batch = explorable.passes.begun(["1 2", "3"], ["2 1", None], "mine")
    assert batch.source.ids.tolist() == [[3, 4, 2], [5, 2, 0]]
    assert batch.queries.ids.tolist() == [[1, 4, 3], [1, 0, 0]]
    found = explorable.passes.labelled_logits(batch, {}, copies=2)
    whole = explorable.passes.logits(batch)
    expected = torch.stack([whole[0, 2], whole[1, 0]]).repeat(2, 1)
    torch.testing.assert_close(found, expected)
    alone = continuing.passes.begun(["1 2"], ["3"], "mine")
    assert alone.queries.ids.tolist() == [[1, 3, 4, 5]]
    assert explorable.passes.logit("3") == 5
    with pytest.raises(VocabularyError) as caught:
        continuing.passes.begun(["1 2 3"], ["1 2 3 1 2 3 1 2"], "mine")
    assert caught.value.facts == {"got": 8, "limit": 7}


@torch.no_grad()
def test_an_encoder_without_an_action_runs_on_one_copy(explorable):
    passes, rows = explorable.passes, {}
    batch = passes.begun(["1 2"], [None], "mine")

    def note(point, value):
        rows[point.kind, point.site] = len(value)
        return value

    points = [*passes.points("heads"), *passes.points("residual")]
    assert [tuple(point) for point in points] == [
        ("heads", "encoder", 0),
        *(("heads", site, layer) for layer in (0, 1) for site in ("decoder", "cross")),
        ("residual", "encoder", 0),
        *(("residual", "decoder", layer) for layer in (0, 1)),
    ]
    every = {point: partial(note, point) for point in points}
    passes.labelled_logits(batch, every, copies=3)
    assert set(rows.values()) == {3}
    encoded = []
    hook = explorable.transformer.encoder.register_forward_pre_hook(
        lambda _, given: encoded.append(len(given[0]))
    )
    of_decoder = {point: act for point, act in every.items() if point.site != "encoder"}
    passes.labelled_logits(batch, of_decoder, copies=3)
    hook.remove()
    assert encoded == [1]
