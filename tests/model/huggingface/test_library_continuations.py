"""Beam search in models of the library: its own beam search, its greedy decoding, and passes over
the whole output say the same."""

import pytest
import torch
from transformers import DynamicCache, EncoderDecoderCache

from explorer.core.errors import ConfigError
from explorer.model.beam_search import beam
from explorer.model.beam_tree import Fate
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.library_continuations import LibraryContinuations
from explorer.model.huggingface.loading import open_directory
from explorer.model.huggingface.passes import Stepper, cache_argument
from tests.support.huggingface_families import saved, tiny_model

TEXT = "5 17 8 11"
MOST = 6


@pytest.fixture(params=["marian", "t5", "gemma2", "mbart", "gpt2", "mistral"])
def model(request, opened):
    return opened(request.param)


def generated(model, width, **options):
    """The ids that the library's own beam search adds, and their sum."""
    inputs, _ = model._inputs(model.read(TEXT), None)
    given = {"input_ids": inputs.target, "attention_mask": inputs.target_mask}
    if model.kind == Kind.ENCODER_DECODER:
        given = {
            "input_ids": inputs.source,
            "attention_mask": inputs.source_mask,
            "decoder_input_ids": inputs.target,
            # The library's own choice has as many layers as the encoder in some families.
            cache_argument(model.model): EncoderDecoderCache(DynamicCache(), DynamicCache()),
        }
    out = model.model.generate(
        **given,
        num_beams=width,
        do_sample=False,
        max_new_tokens=MOST,
        min_length=0,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    return out.sequences[0, inputs.lengths[1] :].tolist(), float(out.sequences_scores[0])


def test_the_best_output_is_that_of_the_librarys_beam_search(model, monkeypatch):
    """With no length penalty, and a search that goes on until nothing better can be found."""
    settings = model.model.generation_config
    monkeypatch.setattr(settings, "forced_eos_token_id", None)  # it ends what is cut off
    for width in (2, 3, 5):
        found = beam(model, TEXT, width=width, max_new_tokens=MOST)
        ids, score = generated(model, width, length_penalty=0.0, early_stopping=False)
        own = [node.id for node in found.path(found.best)]
        assert ids[: len(own)] == own
        if model._settings.first is None:  # the library counts nothing for a forced token
            assert found.best.sum == pytest.approx(score, abs=1e-4)


def test_width_one_is_greedy_decoding(model):
    found = beam(model, TEXT, width=1, max_new_tokens=MOST)
    trace = model.trace(TEXT, max_new_tokens=MOST)
    path = found.path(found.best)
    assert found.best.text == trace.text
    assert trace.predicted_tokens[-len(path) :] == tuple(node.token for node in path)


def test_sums_are_those_of_a_pass_over_the_whole_output(model):
    found = beam(model, TEXT, width=3, max_new_tokens=4)
    for node in (*found.outputs, *found.nodes[-4:]):
        trace = found.trace(node)
        assert trace.text == node.text
        assert len(trace.predicted_tokens) == path_start(model) + len(found.path(node))
        losses = trace.losses[path_start(model) :]
        assert -losses.sum() == pytest.approx(node.sum, abs=1e-4)


def path_start(model):
    """Tokens of the prompt that predict others of it."""
    return len(model.read(TEXT).ids) - 1 if model.kind == Kind.DECODER_ONLY else 0


def test_without_a_cache_that_can_be_reordered_all_rows_run_again(opened, monkeypatch):
    model = opened("gemma2")
    expected = beam(model, TEXT, width=3, max_new_tokens=4)
    take = Stepper.take

    def take_without_cache(stepper, rows):
        stepper._caches = False
        take(stepper, rows)

    monkeypatch.setattr(Stepper, "take", take_without_cache)
    found = beam(model, TEXT, width=3, max_new_tokens=4)
    assert [node.id for node in found.nodes] == [node.id for node in expected.nodes]
    for one, other in zip(found.nodes, expected.nodes, strict=True):
        assert one.sum == pytest.approx(other.sum, abs=1e-4)


def test_what_the_configs_forbid_is_not_chosen_and_what_they_demand_is(tmp_path):
    plain = tiny_model("mbart")
    plain.generation_config.update(
        forced_bos_token_id=9, suppress_tokens=[5, 6], begin_suppress_tokens=[7]
    )
    model = open_directory(saved(plain, tmp_path))
    found = beam(model, TEXT, width=4, max_new_tokens=4)
    assert {node.id for node in found.nodes if node.parent is None} == {9}
    assert not {5, 6} & {node.id for node in found.nodes}
    assert isinstance(model.continuations({"text": TEXT}, 4), LibraryContinuations)


def test_a_model_that_writes_nothing_is_refused(opened):
    with pytest.raises(ConfigError) as caught:
        beam(opened("bert"), TEXT)
    assert caught.value.key == "searches_nothing"


def test_an_output_ends_at_each_of_the_ends(tmp_path):
    plain = tiny_model("gemma2")
    free = beam(open_directory(saved(plain, tmp_path / "free")), TEXT, width=2, max_new_tokens=5)
    second = free.path(free.best)[1].id
    plain.generation_config.eos_token_id = [2, second]
    model = open_directory(saved(plain, tmp_path / "ends"))
    found = beam(model, TEXT, width=3, max_new_tokens=5)
    ended = [node for node in found.nodes if node.fate == Fate.ENDED]
    assert ended
    assert {node.id for node in ended} <= {2, second}
    with torch.inference_mode():
        assert all(node.number not in {one.parent for one in found.nodes} for node in ended)
