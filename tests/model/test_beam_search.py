"""Beam search, and the continuations of a model trained here that it searches."""

import itertools
import math

import pytest
import torch

from explorer.core.errors import ConfigError, VocabularyError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.model import beam_search
from explorer.model.beam_search import beam
from explorer.model.beam_tree import Fate, penalty
from explorer.model.cached_continuations import CachedContinuations

SOURCES = ("1 2 3", "3 <b>", "甲", "2 2 1 3 甲 <b>")
MODELS = ("explorable", "continuing")


@torch.inference_mode()
def forced_sum(model, text, ids):
    """The sum of ln p of the tokens `ids`, from one teacher-forced pass."""
    source, prompt = model._read(text, None)
    target = torch.tensor([[BOS, *prompt, *ids[:-1]]])
    after = model.transformer(source, target)[0, len(prompt) :].double().log_softmax(-1)
    return float(after.gather(1, torch.tensor(ids)[:, None]).sum())


def ids_of(found, node):
    return [one.id for one in found.path(node)]


@pytest.fixture(params=MODELS)
def model(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("text", SOURCES)
def test_width_one_is_greedy_decoding(model, text):
    found, trace = beam(model, text, width=1), model.trace(text)
    assert found.best.text == trace.text
    assert len(found.outputs) == 1
    kept = [node for node in found.nodes if node.fate != Fate.PRUNED]
    assert tuple(kept) == found.path(found.best) == found.greedy
    assert trace.predicted_tokens[-len(kept) :] == tuple(node.token for node in kept)


@pytest.mark.parametrize("width", [2, 5])
def test_sums_are_those_of_teacher_forced_passes(model, width):
    found = beam(model, "1 2 3", width=width, max_new_tokens=6)
    assert {node.fate for node in found.nodes} >= {Fate.KEPT, Fate.PRUNED}
    for node in found.nodes:
        assert node.sum == pytest.approx(forced_sum(model, "1 2 3", ids_of(found, node)), abs=1e-5)
        own = sum(one.log_probability for one in found.path(node))
        assert node.sum == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("strength", [0.0, 1.5])
def test_a_beam_as_wide_as_all_outputs_finds_what_an_exhaustive_search_finds(
    model, strength, monkeypatch
):
    most = 3
    monkeypatch.setattr(beam_search, "MOST_WIDTH", 400)
    found = beam(model, "2 1", width=400, max_new_tokens=most, length_penalty=strength)
    symbols = range(EOS + 1, len(model.target_vocabulary))
    outputs = [
        [*own, EOS] for count in range(most) for own in itertools.product(symbols, repeat=count)
    ]
    outputs += [list(own) for own in itertools.product(symbols, repeat=most)]
    scores = {
        tuple(ids): forced_sum(model, "2 1", ids) / penalty(len(ids), strength) for ids in outputs
    }
    expected = sorted(scores, key=scores.__getitem__, reverse=True)
    assert [tuple(ids_of(found, node)) for node in found.outputs] == expected
    assert not any(node.fate == Fate.PRUNED for node in found.nodes)


def test_a_wider_beam_finds_a_better_output_than_greedy_decoding(model):
    """In some text: a step that greedy decoding avoids leads to more probable tokens."""
    best = {
        width: [beam(model, text, width=width).best.sum for text in SOURCES] for width in (1, 8)
    }
    assert any(wide > narrow + 1e-6 for narrow, wide in zip(best[1], best[8], strict=True))


def test_the_most_probable_beginnings_are_kept_and_the_others_pruned(model):
    found = beam(model, "1 2 3", width=3, max_new_tokens=4)
    for step in {node.step for node in found.nodes}:
        nodes = [node for node in found.nodes if node.step == step]
        assert nodes == sorted(nodes, key=lambda node: node.sum, reverse=True)
        kept = [node for node in nodes if node.fate == Fate.KEPT]
        assert len(kept) <= 3
        least = min(node.sum for node in kept)
        assert all(
            node.sum <= least for node in nodes if node.fate == Fate.PRUNED and node.id != EOS
        )
        parents = {node.parent for node in nodes}
        assert all(one is None or found.nodes[one].fate == Fate.KEPT for one in parents)
        ranked = [nodes.index(node) for node in nodes if node.fate == Fate.ENDED]
        assert all(rank < 3 for rank in ranked)


def test_each_beginning_that_is_kept_has_its_most_probable_next_tokens_in_the_tree(model):
    found = beam(model, "1 2", width=2, max_new_tokens=3)
    last = found.nodes[-1].step
    for node in (one for one in found.nodes if one.fate == Fate.KEPT and one.step < last):
        nexts = {one.id for one in found.nodes if one.parent == node.number}
        steps = model.trace("1 2", force={one.step: one.id for one in found.path(node)}).steps()
        after = steps[(steps.step == node.step + 1) & (steps["rank"] <= 2)]
        assert set(after.id) <= nexts


def test_padding_and_the_beginning_are_never_chosen(explorable):
    with torch.no_grad():
        explorable.transformer.logits.bias[[PAD, BOS]] = 50.0
    assert all(node.id >= EOS for node in beam(explorable, "1 2", width=6).nodes)


def test_a_length_penalty_prefers_longer_outputs(explorable):
    with torch.no_grad():
        explorable.transformer.logits.bias[EOS] = 0.5
    plain, long = (
        beam(explorable, "1 2 3", width=6, max_new_tokens=7, length_penalty=strength)
        for strength in (0.0, 4.0)
    )
    assert len(long.path(long.best)) > len(plain.path(plain.best))
    assert long.score(long.best) == pytest.approx(
        long.best.sum / ((5 + len(long.path(long.best))) / 6) ** 4
    )
    assert plain.score(plain.best) == plain.best.sum


def test_the_search_stops_when_no_better_output_can_be_found(explorable):
    with torch.no_grad():
        explorable.transformer.logits.bias[EOS] = 20.0
    found = beam(explorable, "1 2", width=2)
    assert found.best.id == EOS
    assert max(node.step for node in found.nodes) == 2  # the second output ends there
    assert [node.fate for node in found.outputs] == [Fate.ENDED, Fate.ENDED]


def test_an_output_that_is_cut_off_is_an_output(explorable):
    with torch.no_grad():
        explorable.transformer.logits.bias[EOS] = -50.0
    found = beam(explorable, "1 2", width=2, max_new_tokens=3)
    assert [node.fate for node in found.outputs] == [Fate.KEPT, Fate.KEPT]
    assert [len(found.path(node)) for node in found.outputs] == [3, 3]


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"width": 0}, "no_whole_number"),
        ({"width": 2.0}, "no_whole_number"),
        ({"max_new_tokens": 0}, "no_whole_number"),
        ({"length_penalty": -1}, "bad_length_penalty"),
        ({"length_penalty": math.nan}, "bad_length_penalty"),
        ({"length_penalty": True}, "bad_length_penalty"),
        ({"messages": [{"role": "user", "content": "1"}]}, "no_chat_template"),
        ({"target_language": "fr"}, "no_languages"),
    ],
)
def test_options_that_do_not_exist_are_refused(explorable, options, key):
    with pytest.raises(ConfigError) as caught:
        beam(explorable, "1 2", **options)
    assert caught.value.key == key


def test_a_text_that_cannot_be_read_is_refused(explorable):
    with pytest.raises(VocabularyError):
        beam(explorable, "unknown")
    with pytest.raises(VocabularyError):
        beam(explorable)


def test_sequences_of_a_batch_follow_their_own_rows(explorable):
    """Rows are taken in any order, and more than once."""
    source, prompt = explorable._read("1 2 3", None)
    made = CachedContinuations(
        explorable.transformer, explorable.target_vocabulary, source, prompt, 5
    )
    with torch.inference_mode():
        made.start()
        made.follow(torch.tensor([0, 0]), torch.tensor([3, 4]))
        after = made.follow(torch.tensor([1, 0, 1]), torch.tensor([5, 6, 3]))
        for row, ids in enumerate([[4, 5], [3, 6], [4, 3]]):
            target = torch.tensor([[BOS, *ids]])
            expected = explorable.transformer(source, target)[0, -1].double().log_softmax(-1)
            torch.testing.assert_close(after[row, EOS:], expected[EOS:], atol=1e-5, rtol=0)
    assert (after[:, :EOS] == -torch.inf).all()


def test_a_prompt_that_fills_the_model_leaves_one_step(continuing):
    most = continuing.transformer.config.max_length - 1
    found = beam(continuing, " ".join(["1"] * most), width=2)
    assert {node.step for node in found.nodes} == {most + 1}
