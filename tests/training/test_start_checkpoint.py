from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.core.errors import FileError, TrainingError
from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.model.checkpoint import save_checkpoint
from explorer.training.config import TrainingConfig
from explorer.training.start_checkpoint import load_start, settings_from
from explorer.training.trainer import Trainer
from tests.support.tiny_configs import TINY
from tests.support.toy_sentences import TINY_PAIRS, as_table

TOY = replace(TINY, steps=2, evaluate_every=2)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """An untrained model of a toy task."""
    path = tmp_path / "toy.safetensors"
    save_checkpoint(Trainer(replace(TOY, seed=5)).checkpoint({}), path)
    return path


@pytest.fixture
def translator(tmp_path: Path) -> Path:
    """An untrained translator."""
    path = tmp_path / "translator.safetensors"
    save_checkpoint(Trainer(pairs(tmp_path, 0)).checkpoint({}), path)
    return path


def pairs(folder: Path, first: int, **settings: Any) -> TrainingConfig:
    """The settings of a training on all sentences but the `first`."""
    path = folder / f"pairs{first}.tsv"
    path.write_text("".join(as_table().splitlines(keepends=True)[first:]), "utf-8")
    return replace(TINY_PAIRS, pairs=str(path), **settings)


def pieces(config: TrainingConfig) -> bytes:
    """The SentencePiece model of a training's source."""
    vocabulary = Trainer(config).data_module.source_vocabulary
    assert isinstance(vocabulary, PieceVocabulary)
    return vocabulary.proto


def test_without_a_file_weights_are_random() -> None:
    assert load_start(TOY) is None


def test_a_training_begins_with_the_weights_of_a_file(toy: Path) -> None:
    trainer = Trainer(replace(TOY, start=str(toy), average=10))
    other = Trainer(replace(TOY, seed=5))
    for model in (trainer.model, trainer.averaged):
        for name, weight in other.model.state_dict().items():
            assert torch.equal(weight, model.state_dict()[name])


def test_other_pairs_are_written_in_the_pieces_of_the_file(
    translator: Path, tmp_path: Path
) -> None:
    config = pairs(tmp_path, 60, start=str(translator))
    assert pieces(config) == pieces(pairs(tmp_path, 0))
    assert pieces(replace(config, start="")) != pieces(config)


def test_a_resumed_training_needs_no_file_to_begin_with(toy: Path) -> None:
    config = replace(TOY, start=str(toy))
    trainer = Trainer(config)
    next(trainer.run())
    state = trainer.state()
    toy.unlink()
    resumed = Trainer(config, state)
    assert resumed.step == 1
    assert all(torch.equal(value, state[name]) for name, value in resumed.state().items())


def test_settings_come_from_the_header(toy: Path, translator: Path) -> None:
    assert replace(TOY, **settings_from(toy)) == TOY
    settings = settings_from(translator)
    sizes = settings["pieces"], settings["pieces"]
    assert replace(TINY_PAIRS, **settings).model_config(*sizes) == TINY_PAIRS.model_config(*sizes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"d_model": 2 * TOY.d_model}, "its d_model is"),
        ({"norm": "post"}, "its norm is pre, and the settings say post"),
        ({"symbols": ("1", "2")}, "its vocabulary does not write these texts"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(
    change: dict[str, Any], words: str, toy: Path
) -> None:
    with pytest.raises(TrainingError, match=words):
        Trainer(replace(TOY, start=str(toy), **change))


def test_a_toy_model_cannot_begin_a_translator_and_a_missing_file_is_told(
    toy: Path, tmp_path: Path
) -> None:
    with pytest.raises(TrainingError, match="for pairs of sentences a translator"):
        Trainer(pairs(tmp_path, 0, start=str(toy)))
    with pytest.raises(FileError, match=r"gone\.safetensors"):
        Trainer(replace(TOY, start=str(tmp_path / "gone.safetensors")))
