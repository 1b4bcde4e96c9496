from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError
from explorer.core.vocabulary import EOS
from explorer.data.continued_data import find_continued_task
from explorer.model.explorable import ExplorableModel
from explorer.training.config import quick_demo, recipe
from explorer.training.continued_evaluation import evaluate_continued
from explorer.training.data_modules import ContinuedDataModule, find_data_module
from explorer.training.final_evaluation import evaluate_checkpoint
from explorer.training.trainer import Trainer

CPU = torch.device("cpu")
TASK = find_continued_task("induction")
DEMO = quick_demo("induction", on_gpu=False)


@pytest.fixture(scope="module")
def trained() -> Trainer:
    trainer = Trainer(DEMO)
    for _ in trainer.run():
        pass
    return trainer


def test_induction_is_learnt_and_a_head_looks_at_what_came_after(trained):
    measured = trained.moment.measured
    assert measured["exact_match"] == trained.moment.score >= 0.99
    assert measured["known_loss"] < 0.05 * measured["new_loss"]
    assert np.shape(measured["gold"]) == np.shape(measured["previous"]) == (2, 4)
    assert np.max(measured["gold"][1]) > 0.8
    assert np.max(measured["previous"][0]) > 0.4 > np.max(measured["previous"][1])


def test_a_sequence_is_right_exactly_where_decoding_writes_the_rest_of_it(trained):
    model = ExplorableModel(trained.checkpoint({}), "induction")
    batch = TASK.held_out_batch(25, 24, range(20), torch.Generator().manual_seed(5))
    found = evaluate_continued(model.transformer, TASK, batch)
    vocabulary, written = model.target_vocabulary, []
    for row in batch.target[:, 1:].tolist():
        known = int(TASK.gold([], row).any(-1).argmax())
        rest = vocabulary.decode(row[known:])
        trace = model.trace(vocabulary.decode(row[:known]))
        written.append(trace.text == rest and trace.facts["ended"])
    assert found.exact.tolist() == written
    assert sum(written) > 20


def test_losses_and_weights_are_those_of_traces(trained):
    model = ExplorableModel(trained.checkpoint({}), "induction")
    batch = TASK.held_out_batch(6, 24, range(20), torch.Generator().manual_seed(2))
    found = evaluate_continued(model.transformer, TASK, batch)
    known, new, gold, previous = [], [], [], []
    for row in batch.target[:, 1:-1].tolist():
        text = model.target_vocabulary.decode
        trace = model.trace(text(row[:3]), target=text(row[3:]))
        rows = trace.gold.any(-1)
        known += trace.losses[rows].tolist()
        new += trace.losses[~rows][:-1].tolist()  # without the end
        weights = trace.attention("decoder")
        gold.append((weights * trace.gold).sum(-1)[..., rows].mean(-1))
        previous.append(weights.diagonal(-1, -2, -1)[..., 1:][..., ~rows[1:-1]])
    assert found.known_loss == pytest.approx(np.mean(known), abs=1e-4)
    assert found.new_loss == pytest.approx(np.mean(new), abs=1e-4)
    np.testing.assert_allclose(found.gold, np.mean(gold, 0), atol=1e-5)
    of_new = np.concatenate(previous, -1).mean(-1)
    np.testing.assert_allclose(found.previous, of_new, atol=1e-5)


def test_the_probe_is_a_held_out_sequence_cut_where_the_rest_is_known():
    module = find_data_module(recipe("induction"), CPU)
    assert isinstance(module, ContinuedDataModule)
    text, rest = module.probe()
    symbols = [*text.split(), *rest.split()]
    assert len(symbols) == 24
    assert len(text.split()) == 6
    assert symbols == [symbols[place % 5] for place in range(24)]


def test_the_final_evaluation_is_of_each_alphabet(trained):
    found = evaluate_checkpoint(trained.checkpoint({}), DEMO)
    assert (
        found.facts["exact_match"] == found.facts["exact_match_by_alphabet"][" ".join(DEMO.symbols)]
    )
    assert found.facts["known_loss"] < found.facts["new_loss"]
    assert "weight on the tokens to copy" in found.sentence


def test_the_settings_of_the_task_have_no_encoder():
    assert quick_demo("induction", on_gpu=True).encoder_layers == 0
    with pytest.raises(ConfigError, match="for a decoder alone"):
        replace(DEMO, encoder_layers=1)
    batch = find_data_module(DEMO, CPU).batch(0)
    assert (batch.target[:, -1] == EOS).all()
