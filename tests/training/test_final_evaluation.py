import numpy as np
import pytest

from explorer.data.parallel_corpus import parse_pairs, references
from explorer.data.toy_data import FIRST
from explorer.model.checkpoint import Checkpoint, from_bytes, to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.training.config import TrainingConfig
from explorer.training.final_evaluation import evaluate_checkpoint
from explorer.training.translation_metrics import score, translate
from tests.support.toy_sentences import as_table

PAIRS = parse_pairs(as_table().encode(), "pairs.tsv")


def test_the_whole_model_fits_in_one_file_and_translates_as_before(trained):
    checkpoint = trained.checkpoint({})
    data = to_bytes(checkpoint, half=True)
    again = from_bytes(data, "x")
    assert len(data) < 0.75 * len(to_bytes(checkpoint))
    assert again.source_vocabulary == checkpoint.source_vocabulary
    config = trained.config
    assert evaluate_checkpoint(again, config).facts["bleu"] > 80
    text = PAIRS.part("test")[0].source
    trace = ExplorableModel(again, "tiny").trace(text)
    assert (
        trace.text
        == translate(again.model, again.source_vocabulary, again.target_vocabulary, [text])[0]
    )
    assert trace.integrity().ok.all()
    assert trace.gold is None


def test_joined_texts_are_judged_against_every_way_to_join_and_beside_their_parts(trained):
    shares: list[float] = []
    facts = evaluate_checkpoint(trained.checkpoint({}), trained.config, shares.append).facts
    assert facts["test_sources"] == 12
    joined = sum(name.endswith("_length_ratio") for name in facts)
    assert shares[0] == pytest.approx(12 / (12 + 100 * joined))  # the sources before joined texts
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert facts["test_overlong"] == 0
    held = references(PAIRS.part("test"))
    texts = list(held)
    vocabulary = trained.data_module.source_vocabulary
    short = [
        text for text in texts if max(map(len, vocabulary.encode_all([text, *held[text]]))) < 22
    ]
    written = dict(zip(texts, translate(trained.model, vocabulary, vocabulary, texts), strict=True))
    random = np.random.default_rng(0)
    size = len(short)
    groups = [[short[at] for at in random.choice(size, 3, replace=False)] for _ in range(100)]
    right = [[" ".join(held[text][0] for text in group)] for group in groups]
    apart = score([" ".join(written[text] for text in group) for group in groups], right)
    assert facts["joined_bleu_one_by_one"] == pytest.approx(apart.bleu, abs=0.01)
    together = translate(trained.model, vocabulary, vocabulary, [" ".join(g) for g in groups])
    assert facts["joined_bleu"] == pytest.approx(score(together, right).bleu, abs=0.01)


def test_a_task_is_judged_on_each_alphabet_that_a_class_types(make_model, monkeypatch):
    config = TrainingConfig(
        task="copy", longest=4, symbols=("1", "2", "a", "b"), d_model=8, heads=2
    )
    monkeypatch.setattr(
        "explorer.training.toy_evaluation.judge",  # only digits are right
        lambda model, batch: (None, (batch.source <= FIRST + 1).all(1).double().mean().item()),
    )
    model = make_model(config.model_config())
    vocabulary = config.vocabulary()
    done: list[float] = []
    checkpoint = Checkpoint(model, vocabulary, vocabulary, {})
    found = evaluate_checkpoint(checkpoint, config, done.append)
    assert done == [number / 20 for number in range(1, 21)]  # 4 lengths: of all and 4 alphabets
    shares = found.facts["exact_match_by_alphabet"]
    assert list(shares) == ["1 2 a b", "1 2", "a b", "1 2 a"]
    assert shares["1 2"] == {"1-2": 1.0, "3-4": 1.0}
    assert shares["a b"] == {"1-2": 0.0, "3-4": 0.0}
    assert shares["1 2 a"]["1-2"] == pytest.approx((2 / 3 + 4 / 9) / 2, abs=0.05)
    assert "few symbols alone at least 0.00%" in found.sentence
