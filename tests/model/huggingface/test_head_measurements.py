"""The measurements of heads on models of the library."""

from copy import deepcopy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from explorer.__main__ import main
from explorer.core.errors import AlignmentError, EvaluationBatchError
from explorer.core.i18n import say
from explorer.core.interventions import Interventions
from explorer.heads.alignment.linked_sentences import linked_sentences
from explorer.heads.measure import measure
from explorer.heads.metrics.attention_metrics import normalised_entropy
from explorer.heads.metrics.evaluation_batches import given_sentences, token_losses
from explorer.heads.removal.ablation import effect
from explorer.heads.removal.counterfactuals import compare_traces, mean_outputs
from explorer.heads.removal.gradient_importance import gate_gradients
from explorer.heads.reports.head_report import HeadReport
from explorer.model.huggingface.opening.loading import open_directory
from explorer.public.studied_model import StudiedModel, load
from tests.support.huggingface_families import saved, tiny_model
from tests.support.model_directories import bert
from tests.support.projected_heads import projected

TEXTS = ["5 17 8 41 9 23", "9 9 30 31", "12 44 7"]


def with_mask(model):
    """`model` with 41 as its mask."""

    class WithMask(type(model.tokens)):
        mask_id = 41

    return replace(model, tokens=WithMask(None, model.tokens.size))


@pytest.mark.parametrize(
    ("name", "targets"), [("marian", "greedy"), ("gemma2", "next"), ("bert", "masked")]
)
def test_every_head_of_every_kind_is_measured(opened, name, targets):
    model = with_mask(opened(name)) if name == "bert" else opened(name)
    batch = model.passes.texts(TEXTS, "three")
    report = measure(model, batch, gradients=True, removed_on=3)
    assert list(report.heads[["site", "layer", "head"]].itertuples(index=False, name=None)) == [
        tuple(head) for head in model.passes.heads
    ]
    assert report.facts["targets"] == targets
    assert report.facts["digest"] == model.digest
    assert {"importance", "zero_loss", "mean_loss", "only_exact"} <= set(report.metrics)
    assert report.heads[["importance", "zero_loss", "entropy"]].notna().all(axis=None)
    assert HeadReport.from_json(report.to_json()).facts == report.facts
    assert "three (3)" in report.summary()
    head = model.passes.heads[-2]
    removed = Interventions.gather(ablate=[head])
    with torch.no_grad():
        losses = [
            token_losses(model.passes.logits(batch, interventions=done), batch.labels).sum()
            for done in (Interventions(), removed)
        ]
    change = float(losses[1] - losses[0]) / int(batch.labels.real.sum())
    row = report.heads.set_index(["site", "layer", "head"]).loc[tuple(head)]
    assert row.zero_loss == pytest.approx(change, abs=1e-5)


def test_layers_with_other_masks_are_measured_by_their_own(opened):
    """Local attention in two layers of three: how many keys a row has differs."""
    model = opened("gemma2")
    heads = measure(model, model.passes.texts(TEXTS[:1], "one")).heads
    trace = model.trace(TEXTS[0], max_new_tokens=1)
    for layer in range(3):
        weights = trace.attention("decoder")[layer][None]
        mask = trace.mask("decoder", layer)[None]
        expected = normalised_entropy(weights, mask).mean
        own = heads[heads.layer == layer].normalised_entropy
        np.testing.assert_allclose(own, expected, atol=1e-5)


def test_a_model_that_predicts_no_tokens_has_metrics_alone(opened):
    model = opened("bert")  # by ids, without a mask
    batch = model.passes.texts(TEXTS, "three")
    report = measure(model, batch)
    assert report.heads.confidence.between(0, 1).all()
    assert "metrics of attention only" in report.summary()
    for options in ({"gradients": True}, {"removed_on": 2}):
        with pytest.raises(EvaluationBatchError) as caught:
            measure(model, batch, **options)
        assert caught.value.key == "no_predictions"
    with pytest.raises(EvaluationBatchError):
        effect(model, batch, Interventions.gather(ablate=[("encoder", 0, 0)]))


def test_a_head_becomes_its_mean_and_the_outputs_are_compared(opened):
    for name in ("marian", "llama"):
        model = opened(name)
        means = mean_outputs(model, model.passes.texts(TEXTS, "three"))
        done = {"ablate": [("decoder", 1, 2, "mean"), ("decoder", 0, 1)]}
        original = model.trace(TEXTS[0], max_new_tokens=4)
        changed = model.trace(TEXTS[0], max_new_tokens=4, means=means, capture="full", **done)
        output = changed.head_output("decoder")[1, 2]
        np.testing.assert_allclose(output, means.outputs["decoder", 1][2].expand(*output.shape))
        assert changed.facts["means"] == "three (3)"
        result = compare_traces(model, original, changed, means)
        assert result.forced.predicted_tokens == original.predicted_tokens
        assert result.attention.difference("decoder").shape == original.attention("decoder").shape
        assert result.log_probability != 0


def test_a_comparison_in_an_encoder_alone_has_nothing_to_force(opened):
    model = opened("bert")
    original = model.trace(TEXTS[0])
    changed = model.trace(TEXTS[0], ablate=[("encoder", 0, 1)])
    result = compare_traces(model, original, changed)
    assert np.abs(result.attention.difference("encoder")).max() > 0
    assert result.outputs == ([], [])


def test_the_command_measures_a_directory(directory, tmp_path, capsys):
    texts, pairs = tmp_path / "texts.txt", tmp_path / "pairs.tsv"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    pairs.write_text("5 17\t8 41\n9 9\t30 31\n", encoding="utf-8")
    out = tmp_path / "report.json"
    wanted = ["--importance", "--ablation", "--removed-on", "2", "--out", str(out)]
    assert main(["measure", str(directory("marian")), "--pairs", str(pairs), *wanted]) == 0
    assert HeadReport.load(out).facts["targets"] == "given"
    assert main(["measure", str(directory("llama")), "--texts", str(texts)]) == 0
    assert "each next token" in capsys.readouterr().out
    for options, message in [
        (["--pairs", str(pairs)], "reads no second text"),
        (
            [],
            "no task that makes sentences; name a file with some: --texts, --pairs, or --labels",
        ),
    ]:
        assert main(["measure", str(directory("llama")), *options]) == 2
        assert message in capsys.readouterr().err


def test_two_models_with_other_weights_or_sizes_have_other_digests(directory, opened, tmp_path):
    assert open_directory(directory("bert")).digest == opened("bert").digest
    other = open_directory(saved(tiny_model("bert", seed=1), tmp_path))
    assert other.digest != opened("bert").digest


def test_what_fills_the_masks_is_compared(opened):
    """The probability of the original's tokens at the masks, under the interventions."""
    model = with_mask(opened("bert"))
    text, done = "5 41 8 41 9 23", {"ablate": [("encoder", 0, 0), ("encoder", 1, 1)]}
    original, changed = model.trace(text), model.trace(text, **done)
    result = compare_traces(model, original, changed)
    assert result.has_output
    steps = original.steps()
    steps = steps[steps.chosen].set_index("step")
    now = model.trace(text, force=steps.id.to_dict(), **done).steps()
    now = now[now.chosen].set_index("step").probability
    assert len(steps) == 2
    assert result.outputs[0] == steps.token.tolist()
    change = np.log(now / steps.probability)
    assert result.log_probability == pytest.approx(float(change.sum()), rel=1e-4)
    assert result.log_probability != 0
    without = model.trace("5 8 9")
    nothing = compare_traces(model, without, model.trace("5 8 9", **done))
    assert not nothing.has_output
    assert nothing.outputs == ([], [])


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["the cat", "a dog sees the cat", "the dog"], ["yes", 0, "no"]),
        ([("the cat", "a dog"), ("a dog", "the cat sees a dog"), ("a", "b")], ["yes", 1, "no"]),
    ],
)
def test_heads_of_a_classifier_are_measured_by_the_cross_entropy_of_labels(texts, labels, tmp_path):
    """The loss without each head: torch's, on the library's own model with the head gated by
    hand."""
    names = {0: "no", 1: "yes", 2: "maybe"}
    path = bert(
        tmp_path / "bert", head="BertForSequenceClassification", id2label=names, type_vocab_size=2
    )
    model = load(path)
    report = model.measure(texts, labels, importance=True, removed_on=3)
    numbers = torch.tensor([{"yes": 1, "no": 0}.get(label, label) for label in labels])
    tokenizer = partial(model.tokens.tokenizer, return_tensors="pt", return_token_type_ids=True)
    pairs = [text if isinstance(text, tuple) else (text,) for text in texts]

    def losses(changes):
        with torch.no_grad(), projected(model.model, "bert", model.anatomy, changes):
            logits = [model.model(**tokenizer(*pair)).logits[0] for pair in pairs]
        return torch.nn.functional.cross_entropy(torch.stack(logits), numbers, reduction="none")

    base = losses(lambda site, layer, states: states)
    table = report.heads.set_index(["site", "layer", "head"])
    for head in model.passes.heads:

        def without(site, layer, states, head=head):
            if layer == head.layer:
                states[:, :, head.head] = 0
            return states

        change = float((losses(without) - base).mean())
        assert table.loc[tuple(head)].zero_loss == pytest.approx(change, abs=2e-5)
    assert report.facts["targets"] == "labels"
    assert say("roles.targets_labels") in report.summary()
    assert HeadReport.from_json(report.to_json()).facts == report.facts
    row = model.ablate([model.passes.heads[0]], texts, labels).loc["loss"]
    assert row.before == pytest.approx(float(base.mean()), abs=2e-5)
    exact = model.ablate([model.passes.heads[0]], texts, labels).loc["exact"]
    named = [model.trace(pair[0], pair="".join(pair[1:]) or None).label for pair in pairs]
    assert exact.before == pytest.approx(
        np.mean([names[int(n)] == name for n, name in zip(numbers, named, strict=True)])
    )
    assert model.prune(texts, labels=labels).loss.iloc[0] == pytest.approx(row.before, abs=2e-5)


@pytest.mark.parametrize("head", ["BertForSequenceClassification", "BertForMaskedLM"])
def test_pairs_need_no_labels_in_a_model_that_reads_them(head, tmp_path):
    """Entropies of the library's own weights over both texts of a pair."""
    model = load(bert(tmp_path / "bert", head=head, type_vocab_size=2))
    pairs = [("the cat", "a dog"), ("a dog", "the cat sees a dog")]
    batch = given_sentences(model, pairs)
    own, entropies = deepcopy(model.model), []
    own.set_attn_implementation("eager")
    for number, pair in enumerate(pairs):
        encoded = model.tokens.tokenizer(*pair, return_tensors="pt", return_token_type_ids=True)
        length = encoded["input_ids"].size(1)
        assert set(encoded["token_type_ids"][0].tolist()) == {0, 1}
        encoded["input_ids"] = batch.source.ids[number : number + 1, :length]  # with masks
        with torch.no_grad():
            weights = torch.cat(own(**encoded, output_attentions=True).attentions)
        entropies.append(torch.special.entr(weights).sum(-1).flatten(0, 1))  # (head, query)
    masks = int((batch.source.ids == model.tokens.mask_id).sum())
    assert (masks > 0, batch.targets) == ((True, "masked") if "Masked" in head else (False, "none"))
    found = model.measure(pairs).heads.entropy
    np.testing.assert_allclose(found, torch.cat(entropies, 1).mean(1), atol=1e-5)
    assert model.measure(pairs[:1]).facts["sentences"] == 1


def test_links_are_for_models_that_decode(tmp_path):
    model = load(bert(tmp_path / "bert", head="BertForSequenceClassification"))
    (tmp_path / "links.tsv").write_text("the cat\ta dog\t0-0 1-1\n" * 2, "utf-8")
    with pytest.raises(AlignmentError) as caught:
        linked_sentences(model, tmp_path / "links.tsv")
    assert caught.value.key == "links_refused"


def test_slopes_of_a_classifier_are_those_of_finite_differences(tmp_path):
    model = load(bert(tmp_path / "bert", head="BertForSequenceClassification", num_labels=3))
    batch = given_sentences(model, ["the cat", "a dog sees the cat"], [2, 0])
    slopes = gate_gradients(model, batch)
    for number in (0, len(model.passes.heads) - 1):
        ends = []
        for step in (-0.01, 0.01):
            gates = torch.ones(2, len(model.passes.heads))
            gates[:, number] += step
            with torch.no_grad():
                logits = model.passes.logits(batch, gates)
            ends.append(token_losses(logits, batch.labels).sum(1))
        np.testing.assert_allclose(slopes[:, number], (ends[1] - ends[0]) / 0.02, atol=2e-3)


def test_heads_of_a_tagger_are_measured_by_the_tags_of_words(tmp_path):
    names = {0: "O", 1: "PER"}
    model = load(bert(tmp_path / "bert", head="BertForTokenClassification", id2label=names))
    texts, tags = ["the cat sees a dog", "a dog"], ["O PER O O PER", ["O", "PER"]]
    row = model.ablate([model.passes.heads[0]], texts, tags).loc["loss"]
    tokenizer, losses = model.tokens.tokenizer, []
    for text, own in zip(texts, tags, strict=True):
        words = own.split() if isinstance(own, str) else own
        encoded = tokenizer(text.split(), is_split_into_words=True, return_tensors="pt")
        target = torch.full(encoded["input_ids"].shape, -100)
        for number, word in enumerate(words):  # the library's own example of tags of words
            target[0, encoded.word_ids().index(number)] = ["O", "PER"].index(word)
        with torch.no_grad():
            logits = model.model(**encoded).logits
        losses.append(torch.nn.functional.cross_entropy(logits[0], target[0], reduction="none"))
    expected = float(torch.cat(losses).sum()) / 7
    assert row.before == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize(
    ("texts", "labels", "key"),
    [
        (["a", "b"], ["yes"], "label_count"),
        (["a", "b"], ["yes", "perhaps"], "unknown_label"),
        (["a"], "y", "no_list_of_labels"),
        (["a"], 3, "no_list_of_labels"),
        (None, ["yes"], "no_list_of_texts"),
    ],
)
def test_labels_that_do_not_fit_are_refused_in_one_sentence(texts, labels, key, tmp_path):
    names = {0: "no", 1: "yes"}
    model = load(bert(tmp_path / "bert", head="BertForSequenceClassification", id2label=names))
    with pytest.raises(EvaluationBatchError) as caught:
        model.measure(texts, labels)
    assert caught.value.key == key


@pytest.mark.parametrize("head", [None, "BertForQuestionAnswering"])
def test_models_without_classes_take_no_labels(head, tmp_path, explorable):
    own = StudiedModel(explorable.checkpoint, explorable.name)
    for model in (own, load(bert(tmp_path / "bert", head=head))):
        with pytest.raises(EvaluationBatchError) as caught:
            model.measure(["1"], [0])
        assert caught.value.key == "no_labels"


def test_a_repeated_text_with_another_label_is_another_example(tmp_path):
    model = load(bert(tmp_path / "bert", head="BertForSequenceClassification", num_labels=3))
    batch = given_sentences(model, ["the cat", "the cat", "the cat"], [0, 1, 0])
    assert sorted(batch.labels.ids[:, 0].tolist()) == [0, 1]
    assert "1 repeated left out" in batch.name
