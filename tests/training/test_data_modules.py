from dataclasses import replace

import pytest
import torch

from explorer.core.errors import PairsError
from explorer.data.batch import Batch
from explorer.training.config import TrainingConfig
from explorer.training.data_modules import ToyDataModule, find_data_module
from explorer.training.translation_data import TranslationDataModule
from explorer.training.translation_metrics import mean_loss
from tests.support.toy_sentences import TINY_PAIRS

CPU = torch.device("cpu")


def probe(**settings: object) -> tuple[str, str]:
    return ToyDataModule(replace(TrainingConfig(), **settings), CPU).probe()


def test_the_probe_of_a_task_has_the_classrooms_symbols_where_it_can():
    assert probe() == ("7 3 9 1 4", "4 1 9 3 7")
    assert probe(longest=2) == ("7 3", "3 7")
    text, answer = probe(symbols=("x", "y", "z"), longest=3, task="copy")
    assert text == answer
    assert len(text.split()) == 3
    assert set(text.split()) <= {"x", "y", "z"}


def test_small_alphabets_are_a_share_of_the_batch():
    def few(**settings: object) -> int:
        config = replace(TrainingConfig(), batch=400, **settings)
        batch = ToyDataModule(config, CPU).batch(0)
        return sum(len(set(row) - {0, 2}) < 4 < row.index(2) for row in batch.source.tolist())

    assert few(small_alphabets=0.0) < 10  # by chance
    assert few() > 60


def test_a_training_with_pairs_translates(pairs_file):
    config = replace(TINY_PAIRS, pairs=str(pairs_file))
    assert config.task == "translate"
    assert isinstance(find_data_module(config, CPU), TranslationDataModule)
    assert isinstance(find_data_module(TrainingConfig(), CPU), ToyDataModule)


def test_a_resumed_data_module_keeps_its_pieces_and_refuses_other_pairs(pairs_file):
    config = replace(TINY_PAIRS, pairs=str(pairs_file))
    module = find_data_module(config, CPU)
    kept = {f"lesson.{name}": value for name, value in module.state().items()}
    again = find_data_module(config, CPU, kept)
    assert again.source_vocabulary == module.source_vocabulary
    assert torch.equal(again.batch(5).target, module.batch(5).target)
    pairs_file.write_text(pairs_file.read_text(encoding="utf-8") + "More.\tEncore.\n", "utf-8")
    with pytest.raises(PairsError, match="no longer the one"):
        find_data_module(config, CPU, kept)


def test_the_training_loss_of_a_toy_task_is_of_its_first_sequences(make_model):
    config = replace(TrainingConfig(), longest=4, d_model=16, heads=2, d_ff=16, batch=100)
    module = ToyDataModule(config, CPU)
    model = make_model(module.model_config)
    measured = module.measure(model)
    again = ToyDataModule(config, CPU)
    first = [again.batch(step) for step in range(2)]
    first[1] = Batch(first[1].source[:28], first[1].target[:28])
    expected = mean_loss(model, first).smoothed
    assert measured["training_loss"] == pytest.approx(expected, abs=1e-4)
    assert measured["training_loss"] != measured["held_out_loss"]
    assert torch.equal(module.batch(0).source, first[0].source)  # nothing was drawn from it
