import pytest
import torch

from explorer.core.errors import VocabularyError
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
