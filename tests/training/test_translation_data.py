from dataclasses import replace
from typing import get_args

import pytest
import torch
from torch.nn.functional import cross_entropy

from explorer.core.errors import PairsError, VocabularyError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.parallel_corpus import Part, parse_pairs
from explorer.model.checkpoint import Checkpoint
from explorer.model.transformer import Transformer
from explorer.training import translation_data
from explorer.training.final_evaluation import evaluate_translations
from explorer.training.trainer import Trainer
from explorer.training.translation_data import TranslationDataModule
from explorer.training.translation_metrics import translate
from tests.support.toy_sentences import SENTENCES, TINY_PAIRS, as_table

CPU = torch.device("cpu")
PAIRS = parse_pairs(as_table().encode(), "pairs.tsv")


@pytest.fixture(scope="module")
def data() -> TranslationDataModule:
    return TranslationDataModule(TINY_PAIRS, PAIRS, CPU)


def texts(data: TranslationDataModule, ids: torch.Tensor) -> list[str]:
    return [data.source_vocabulary.decode(row) for row in ids.tolist()]


def test_a_batch_begins_ends_and_is_padded_as_every_batch(data):
    batch = data.batch(0)
    for row in batch.source.tolist():
        assert row.count(EOS) == 1
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}
    for row in batch.target.tolist():
        assert row[0] == BOS
        assert row.count(EOS) == 1
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}


def test_without_joining_an_epoch_sees_every_pair_once_and_no_held_out_one():
    config = replace(TINY_PAIRS, joined=0.0, batch=12)
    data = TranslationDataModule(config, PAIRS, CPU)
    training = {(pair.source, pair.target) for pair in PAIRS.part("training")}
    assert len(training) // 12 == 18
    seen = []
    for step in range(18):
        batch = data.batch(step)
        seen += zip(texts(data, batch.source), texts(data, batch.target), strict=True)
    assert len(seen) == len(set(seen)) == 216
    assert set(seen) <= training
    again = TranslationDataModule(config, PAIRS, CPU)
    assert torch.equal(again.batch(40).source, data.batch(40).source)  # no state but the step
    assert not torch.equal(data.batch(18).source, data.batch(0).source)


def test_joined_pairs_are_whole_pairs_side_by_side_and_never_too_long():
    config = replace(TINY_PAIRS, joined=1.0, longest=48)
    data = TranslationDataModule(config, PAIRS, CPU)
    known = dict(SENTENCES)
    longer = 0
    for step in range(12):
        batch = data.batch(step)
        assert batch.source.size(1) < data.model_config.max_length  # two words without a space
        assert batch.target.size(1) <= 48 + 2  # between them are spelt out
        pairs = zip(texts(data, batch.source), texts(data, batch.target), strict=True)
        for source, target in pairs:
            parts = [f"{part.strip()}." for part in source.split(".") if part]
            assert " ".join(known[part] for part in parts) == target
            longer += len(parts) > 1
    assert longer > 20


def test_overlong_pairs_of_every_part_are_left_out_and_counted(make_model):
    long = " ".join(["very"] * 80)
    rows = [f"{number} {long}\tcourt\n{number} court\t{long}\n" for number in range(40)]
    pairs = parse_pairs((as_table() + "".join(rows) + f"{long * 100}\tx\n").encode(), "x.tsv")
    data = TranslationDataModule(TINY_PAIRS, pairs, CPU)
    overlong = {
        part: sum(long in p.source + p.target for p in pairs.part(part)) for part in get_args(Part)
    }
    assert min(overlong.values()) > 0  # there are some in every part
    assert data.overlong == overlong["training"] + overlong["dev"]
    assert data.facts()["pairs"]["overlong"] == data.overlong
    assert data.facts()["pairs"]["kept"] == 240 + 81
    model = make_model(data.model_config)
    assert data.measure(model)["bleu"] < 5  # nothing in it is longer than the model
    checkpoint = Checkpoint(model, data.source_vocabulary, data.target_vocabulary, {})
    path_facts = evaluate_translations(checkpoint, pairs).facts
    assert path_facts["test_overlong"] == overlong["test"]
    with pytest.raises(VocabularyError, match="at most 66"):
        translate(model, data.source_vocabulary, data.target_vocabulary, [f"{long} {long}"])


def test_a_dev_part_of_overlong_pairs_alone_is_refused():
    dev = {pair.source for pair in PAIRS.part("dev")}
    rows = [f"{s}\t{t}{' x' * 60 if s in dev else ''}\n" for s, t in SENTENCES]
    with pytest.raises(PairsError, match="No held-out pair"):
        TranslationDataModule(TINY_PAIRS, parse_pairs("".join(rows).encode(), "x.tsv"), CPU)


def test_a_batch_has_no_more_rows_than_there_are_pairs():
    data = TranslationDataModule(replace(TINY_PAIRS, batch=500, joined=0.0), PAIRS, CPU)
    for step in range(2):
        assert len(set(texts(data, data.batch(step).source))) == 216


def test_pairs_that_are_all_too_long_are_refused():
    with pytest.raises(PairsError, match="more than 3 pieces"):
        TranslationDataModule(replace(TINY_PAIRS, longest=3), PAIRS, CPU)


def test_few_pairs_are_all_learnt_and_judged_as_whole_words(make_model):
    few = SENTENCES[:60]
    corpus = parse_pairs("".join(f"{s}\t{t}\n" for s, t in few).encode(), "few.tsv")
    data = TranslationDataModule(TINY_PAIRS, corpus, CPU)
    assert data.part_sizes() == {"training": 60, "dev": 0, "test": 0}
    assert data.pair_counts()["overlong"] == 0
    source, target = data.probe()
    for vocabulary, text in ((data.source_vocabulary, source), (data.target_vocabulary, target)):
        labels = vocabulary.labels(vocabulary.encode(text))
        assert "".join(labels) == "▁" + text.replace(" ", "▁")
        assert len(labels) == len(text.split()) + 1  # the final mark is a piece of its own
    assert dict(few)[source] == target
    model = make_model(data.model_config)
    measured = data.measure(model)
    assert measured["exact_match"] == data.score(measured) == 0  # it has learnt nothing
    assert measured["training_loss"] == pytest.approx(measured["held_out_loss"], abs=1e-4)
    checkpoint = Checkpoint(model, data.source_vocabulary, data.target_vocabulary, {})
    evaluated = evaluate_translations(checkpoint, corpus)
    assert evaluated.facts["test_sources"] == 60
    assert "on 60 learnt sources" in evaluated.sentence


def test_the_score_of_few_pairs_is_the_share_that_is_right(monkeypatch):
    few = SENTENCES[:40]
    corpus = parse_pairs("".join(f"{s}\t{t}\n" for s, t in few).encode(), "few.tsv")
    data = TranslationDataModule(TINY_PAIRS, corpus, CPU)
    known = dict(few)

    def translate(model: object, source: object, target: object, sources: list[str]) -> list[str]:
        return [known[text] if at % 4 else "faux" for at, text in enumerate(sources)]

    monkeypatch.setattr(translation_data, "translate", translate)
    measured = data.measure(Transformer(data.model_config).eval())
    assert data.score(measured) == 0.75


def test_patterns_of_unknown_languages_are_refused():
    config = replace(TINY_PAIRS, patterned=0.1)
    lines = [f"wort{n} satz{n}\tpalabra{n} frase{n}\n" for n in range(240)]
    with pytest.raises(PairsError, match=r"in none of them: 1, 2\. Set"):
        TranslationDataModule(config, parse_pairs("".join(lines).encode(), "x.tsv"), CPU)
    lines = [f"the cat {n} is mine, she and I\tpalabra{n} frase{n}\n" for n in range(240)]
    with pytest.raises(PairsError, match=r"in none of them: 2\. Set"):
        TranslationDataModule(config, parse_pairs("".join(lines).encode(), "x.tsv"), CPU)


def test_excluded_sources_are_never_trained_on_however_they_are_written(tmp_path):
    chosen = PAIRS.part("training")[:5]
    path = tmp_path / "excluded.tsv"
    path.write_text("".join(f"{p.source.upper().rstrip('.')}!\tx\n" for p in chosen), "utf-8")
    config = replace(TINY_PAIRS, excluded=str(path), joined=0.0, batch=211)
    data = TranslationDataModule(config, PAIRS, CPU)
    assert data.excluded == data.facts()["pairs"]["excluded"] == 5
    seen = set(texts(data, data.batch(0).source))
    assert len(seen) == 211
    assert not seen & {pair.source for pair in chosen}


def test_further_pairs_are_trained_on_and_never_judged_by(tmp_path):
    """Each row is a target and its source, as `translate` writes them."""
    judged, own = PAIRS.part("dev")[0], PAIRS.part("training")[0]
    rows = [("a target", "a source"), (f"{judged.target} ", "new"), ("other", judged.source)]
    path = tmp_path / "more.tsv"
    lines = [*(f"{target}\t{source}\n" for target, source in rows), "\tempty\n"]
    path.write_text("".join(lines * 40 + [f"t{n}\ts{n}\n" for n in range(120)]), "utf-8")
    config = replace(TINY_PAIRS, further_pairs=str(path), joined=0.0, batch=211 + 121)
    data = TranslationDataModule(config, PAIRS, CPU)
    assert data.further == data.facts()["pairs"]["further"] == 121
    assert [pair.source for pair in data.corpus.part("dev")] == [
        pair.source for pair in PAIRS.part("dev")
    ]
    seen = set(texts(data, data.batch(0).source))
    assert {"a source", "s0", "s119", own.source} <= seen
    assert not seen & {"new", judged.source}


def test_one_further_pair_is_enough(tmp_path):
    path = tmp_path / "more.tsv"
    path.write_text("a target\ta source\n", "utf-8")
    data = TranslationDataModule(replace(TINY_PAIRS, further_pairs=str(path)), PAIRS, CPU)
    assert data.further == 1
    assert data.part_sizes() == {"training": 217, "dev": 12, "test": 12}
    path.write_text("a target\n\ta source\nx\t\n", "utf-8")
    with pytest.raises(PairsError, match=r"no whole pair.*rows \(3\).*2 with a blank side, 1 with"):
        TranslationDataModule(replace(TINY_PAIRS, further_pairs=str(path)), PAIRS, CPU)


def test_a_training_without_a_pair_that_is_not_excluded_is_refused(tmp_path):
    path = tmp_path / "all.txt"
    path.write_text("".join(f"{source}\n" for source, _ in SENTENCES), "utf-8")
    config = replace(TINY_PAIRS, excluded=str(path))
    with pytest.raises(PairsError, match=r"All pairs to train on \(216\).*“all\.txt”"):
        TranslationDataModule(config, PAIRS, CPU)
    more = tmp_path / "more.tsv"
    more.write_text("".join(f"t{n}\ts{n}\n" for n in range(20)), "utf-8")
    data = TranslationDataModule(replace(config, further_pairs=str(more)), PAIRS, CPU)
    assert data.pair_counts()["excluded"] == 216
    assert data.part_sizes()["training"] == 20


def test_a_training_is_not_resumed_with_other_further_pairs(tmp_path):
    path = tmp_path / "more.tsv"
    path.write_text("".join(f"t{n}\ts{n}\n" for n in range(120)), "utf-8")
    config = replace(TINY_PAIRS, further_pairs=str(path))
    saved = TranslationDataModule(config, PAIRS, CPU).state()
    TranslationDataModule(config, PAIRS, CPU, saved)
    path.write_text("".join(f"t{n}\tr{n}\n" for n in range(120)), "utf-8")
    with pytest.raises(PairsError, match="no longer the one"):
        TranslationDataModule(config, PAIRS, CPU, saved)


@pytest.mark.parametrize("stop", [3, 17])
def test_a_resumed_translation_training_gives_equal_results(pairs_file, stop):
    """Through the end of an epoch, with everything random that a training on pairs has."""
    config = replace(
        TINY_PAIRS, pairs=str(pairs_file), steps=24, evaluate_every=6, dropout=0.2,
        batch_tokens=600, subword_alpha=0.3, swapped=0.5, copied=0.1, unpunctuated=0.1, average=10,
    )  # fmt: skip
    uninterrupted = Trainer(config)
    expected = [moment for moment in uninterrupted.run() if moment]
    assert len(uninterrupted.state()["lesson.epoch_starts"]) > 1
    first = Trainer(config)
    for _ in first.run():
        if first.step == stop:
            break
    second = Trainer(config, first.state())
    later = [moment for moment in second.run() if moment]
    assert [m.loss for m in later] == [m.loss for m in expected][-len(later) :]
    for ours, theirs in zip(
        second.model.parameters(), uninterrupted.model.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_two_vocabularies_learn_each_its_side():
    data = TranslationDataModule(replace(TINY_PAIRS, joint=False, pieces=350), PAIRS, CPU)
    assert data.source_vocabulary != data.target_vocabulary
    assert data.model_config.source_vocabulary == len(data.source_vocabulary)
    assert data.model_config.target_vocabulary == len(data.target_vocabulary)
    assert not data.model_config.tied_embeddings


def test_it_learns_to_translate_what_it_never_saw(trained):
    moment = trained.moment
    assert moment.measured["bleu"] > 80
    assert moment.score == moment.measured["bleu"] / 100
    assert moment.measured["perplexity"] < 1.5
    assert set(moment.measured["samples"][0]) == {"source", "written", "reference"}
    source, reference = trained.data_module.probe()
    assert dict(SENTENCES)[source] == reference


@torch.no_grad()
def test_both_losses_are_nats_a_token_of_the_same_model(make_model):
    """Of pairs as they are in the file, one by one: nothing joined, exchanged or sampled."""
    config = replace(
        TINY_PAIRS, label_smoothing=0.1, joined=0.5, swapped=0.5, subword_alpha=0.3, dropout=0.3
    )
    data = TranslationDataModule(config, PAIRS, CPU)
    model = make_model(data.model_config)
    measured = data.measure(model)
    for name, part in (("training_loss", "training"), ("held_out_loss", "dev")):
        losses, tokens = 0.0, 0
        for pair in PAIRS.part(part):
            source = [*data.source_vocabulary.encode(pair.source), EOS]
            target = [BOS, *data.target_vocabulary.encode(pair.target), EOS]
            logits = model(torch.tensor([source]), torch.tensor([target[:-1]]))[0]
            expected = torch.tensor(target[1:])
            losses += cross_entropy(logits, expected, label_smoothing=0.1, reduction="sum").item()
            tokens += len(expected)
        assert measured[name] == pytest.approx(losses / tokens, rel=1e-4)
