from dataclasses import replace

import pytest
import torch

from explorer.core.errors import ConfigError, PairsError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.text_corpus import read_corpus
from explorer.model.checkpoint import from_bytes, to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.training.config import TrainingConfig
from explorer.training.final_evaluation import evaluate_checkpoint
from explorer.training.text_data import TextDataModule
from explorer.training.trainer import Trainer
from tests.support.toy_sentences import SENTENCES, TINY_TEXTS

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> TrainingConfig:
    path = tmp_path_factory.mktemp("texts") / "texts.txt"
    path.write_text("".join(f"{source}\n" for source, _ in SENTENCES), "utf-8")
    return replace(TINY_TEXTS, texts=str(path))


@pytest.fixture(scope="module")
def trained(config: TrainingConfig) -> Trainer:
    trainer = Trainer(config)
    for _ in trainer.run():
        pass
    return trainer


def test_a_batch_has_texts_and_no_source(config):
    batch = TextDataModule(config, read_corpus(config.texts), CPU).batch(0)
    assert batch.source.shape == (len(batch.target), 0)
    for row in batch.target.tolist():
        assert row[0] == BOS
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}


def test_a_model_that_has_learnt_continues_held_out_texts(trained):
    measured = trained.moment.measured
    assert measured["held_out_loss"] < 1.2
    assert measured["accuracy"] == trained.moment.score > 0.5
    known = {f"{sample['source']} {sample['reference']}" for sample in measured["samples"]}
    assert known <= {source for source, _ in SENTENCES}
    model = ExplorableModel(trained.checkpoint({}), "lm")
    for sample in measured["samples"]:
        trace = model.trace(sample["source"])
        assert trace.text == sample["written"]
        assert trace.facts["ended"]
        assert trace.integrity().ok.all()


def test_the_probe_is_a_held_out_text_cut_after_its_first_words(trained):
    data = trained.data_module
    text, rest = data.probe()
    assert f"{text} {rest}" in data.corpus.part("dev")
    trace = ExplorableModel(trained.checkpoint({}), "lm").trace(text, target=rest)
    written = data.target_vocabulary.encode(f"{text} {rest}")
    labels = data.target_vocabulary.labels(written)
    assert trace.predicted_tokens == (*labels, "<eos>")


def test_the_checkpoint_says_what_it_was_trained_on(trained, config):
    checkpoint = from_bytes(to_bytes(trained.checkpoint({})), "x")
    facts = checkpoint.facts
    assert facts["task"] == "continue"
    assert facts["texts"]["kept"] == len(SENTENCES)
    assert 1 < len(facts["examples"]) == len(set(facts["examples"])) <= 12
    found = evaluate_checkpoint(checkpoint, config)
    assert 1 < found.facts["perplexity"] < found.facts["word_perplexity"]
    assert found.facts["test_texts"] == 12
    assert found.sentence.startswith("perplexity ")


def test_a_resumed_training_goes_on_with_its_pieces_and_refuses_other_texts(trained, config):
    state = trained.state()
    again = Trainer(config, state)
    assert again.data_module.source_vocabulary == trained.data_module.source_vocabulary
    one, other = (trainer.data_module.batch(30) for trainer in (trained, again))
    assert torch.equal(one.target, other.target)
    other_texts = replace(read_corpus(config.texts), digest="0")
    own = {name.removeprefix("lesson."): value for name, value in state.items()}
    with pytest.raises(PairsError, match="no longer the one"):
        TextDataModule(config, other_texts, CPU, own)


def test_texts_are_for_a_decoder_alone():
    for changes, key in [
        ({"encoder_layers": 1}, "no_encoder"),
        ({"texts": ""}, "needs_encoder"),
        ({"pairs": "x.tsv"}, "pairs_or_texts"),
    ]:
        with pytest.raises(ConfigError) as caught:
            replace(TINY_TEXTS, **({"task": "copy"} | changes))
        assert caught.value.key == key
    assert TINY_TEXTS.task == "continue"
    assert TINY_TEXTS.model_config().tied_embeddings
