"""Activation and path patching of every kind of model, each beside a slow one of one value at a
time."""

from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch

import explorer
from explorer.core.errors import (
    ConfigError,
    EvaluationBatchError,
    ExplorerError,
    InterventionError,
    VocabularyError,
)
from explorer.core.sites import Head
from explorer.heads.patching.activation_patching import patch
from explorer.heads.patching.two_texts import common_output, output_of, patch_texts
from explorer.model.explorable import ExplorableModel
from explorer.public.studied_model import load
from tests.support.model_directories import bart, bert, gpt2
from tests.support.slow_patching import (
    LibraryRuns,
    OwnRuns,
    values_of,
    with_head,
    with_path,
    with_state,
)

TEXTS = {
    "own": ("1 2 3 甲 <b>", "1 3 3 2 <b>"),
    "alone": ("1 2 3 甲 1", "1 2 2 甲 3"),
    "gpt2": ("the cat sees a dog", "the dog sees a cat"),
    "bart": ("the cat sees a dog", "the dog sees a cat"),
    "bert": ("the cat [MASK] a dog", "the dog [MASK] a cat"),
}
PREFIXES = {"own": ("2 1", "3 1"), "bart": " the cat"}
MAKE = {"gpt2": gpt2, "bart": bart, "bert": bert}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {name: load(make(folder / name)) for name, make in MAKE.items()}


@pytest.fixture(params=["own-pre", "own-post", "alone", *MAKE])
def runs(request):
    """The runs of each kind of model, one after another."""
    name, _, norm = request.param.partition("-")
    if name == "alone":
        model = request.getfixturevalue("continuing")
    elif name == "own":
        model = request.getfixturevalue("normed_models")[norm]
    else:
        model = request.getfixturevalue("library")[name]
    prefix = PREFIXES.get(name)
    both = prefix if isinstance(prefix, tuple) else (prefix, prefix)
    given = zip(TEXTS[name], both, strict=True)
    batches = [model.passes.begun([text], [before], "one") for text, before in given]
    kind = partial(LibraryRuns, model, name) if name in MAKE else partial(OwnRuns, model)
    return partial(patch, model, *TEXTS[name], prefix=prefix), kind(batches)


@pytest.fixture
def normed_models(explorable, make_model):
    """With two layers on each side, by the place of LayerNorm."""

    def normed(norm):
        config = replace(explorable.transformer.config, norm=norm, encoder_layers=2)
        checkpoint = replace(explorable.checkpoint, model=make_model(config, seed=5))
        return ExplorableModel(checkpoint, norm)

    return {norm: normed(norm) for norm in ("pre", "post")}


def some_metric(logits):
    return logits[7] - 0.3 * logits[5]


def check(found, expected, runs):
    """Metric and share restored of each row are those of the logits of the slow runs."""
    clean, corrupted = (float(some_metric(runs.logits(number))) for number in (0, 1))
    assert (found.clean, found.corrupted) == pytest.approx((clean, corrupted), abs=1e-5)
    metrics = np.array([float(some_metric(logits)) for logits in expected])
    assert np.ptp(metrics) > 1e-4
    np.testing.assert_allclose(found.table.metric, metrics, atol=1e-5)
    shares = (metrics - corrupted) / (clean - corrupted)
    np.testing.assert_allclose(
        found.table.restored, shares, atol=2e-5 / abs(clean - corrupted), rtol=1e-3
    )


@pytest.mark.parametrize("batch_size", [None, 2])
def test_each_head_restores_what_it_does_alone(runs, batch_size):
    patched, slow = runs
    found = patched(metric=some_metric, batch_size=batch_size)
    heads = slow.model.passes.heads
    assert [Head(*row) for row in found.table[["site", "layer", "head"]].to_numpy()] == list(heads)
    check(found, [with_head(slow, head) for head in heads], slow)


def test_a_head_is_patched_at_some_positions_alone(runs):
    patched, slow = runs
    found = patched(metric=some_metric, positions=[3, 1])
    at = {head: [1, 3] for head in slow.model.passes.heads}
    for side, sites in (("source", ("encoder",)), ("queries", ("decoder", "cross"))):
        rows = getattr(slow.batches[0], side)
        if rows is not None and rows.ids.size(1) <= 3:  # the stack has no position 3
            at = {head: [1] if head.site in sites else own for head, own in at.items()}
    check(found, [with_head(slow, head, own) for head, own in at.items()], slow)


def test_each_state_restores_what_it_does_alone(runs):
    patched, slow = runs
    found = patched(metric=some_metric, sites="residual", batch_size=3)
    places = list(found.table[["stack", "layer", "position"]].itertuples(index=False, name=None))
    lengths = {
        stack: (slow.batches[0].source if stack == "encoder" else slow.batches[0].queries).ids.size(
            1
        )
        for stack in slow.stacks
    }
    assert places == [
        (stack, layer, position)
        for stack, count in slow.stacks.items()
        for layer in range(count)
        for position in range(lengths[stack])
    ]
    check(found, [with_state(slow, *place) for place in places], slow)


def test_a_path_restores_what_its_receiver_alone_reads(runs):
    patched, slow = runs
    receiver = slow.model.passes.heads[-1]
    found = patched(metric=some_metric, sites="paths", receiver=receiver, batch_size=4)
    senders = [Head(*row) for row in found.table[["site", "layer", "head"]].to_numpy()]
    assert found.receiver == receiver
    assert {head[:2] for head in senders} == {
        head[:2] for head in slow.model.passes.heads if head[:2] != receiver[:2]
    }
    check(found, [with_path(slow, sender, receiver) for sender in senders], slow)
    sender = senders[1]
    one = patched(
        metric=some_metric, sites="paths", sender=sender, receiver=receiver, positions=[1]
    )
    expected = float(some_metric(with_path(slow, sender, receiver, [1])))
    assert one.table.metric.to_list() == pytest.approx([expected], abs=1e-5)
    written = {"sender": str(sender), "receiver": str(receiver)}
    same = patched(metric=some_metric, sites="paths", positions=[1], **written)
    assert (same.receiver, same.table.metric.to_list()) == (receiver, one.table.metric.to_list())


def test_the_matrix_has_layers_in_rows(continuing, explorable):
    texts = TEXTS["alone"]
    found = patch(continuing, *texts, metric=some_metric)
    assert found.matrix.shape == (2, 3)
    assert found.matrix.loc["decoder"].to_numpy().ravel().tolist() == found.table.restored.to_list()
    states = patch(explorable, *TEXTS["own"], metric=some_metric, sites="residual", prefix="2")
    assert states.matrix.index.to_list() == [("encoder", 0), ("decoder", 0), ("decoder", 1)]
    assert states.matrix.loc["decoder"].notna().sum(axis=1).to_list() == [2, 2]
    row = states.table.iloc[1]
    assert (row.clean_token, row.corrupted_token) == ("2", "3")
    assert repr(found).startswith("Patching('heads': 6 values, some_metric: ")
    (shown,) = pd.read_html(StringIO(found._repr_html_()), header=0, skiprows=[1])
    np.testing.assert_allclose(shown.iloc[:, -3:], found.matrix, atol=6e-4)


@pytest.mark.parametrize("name", ["own", "alone", *MAKE])
def test_the_runs_are_those_of_trace(name, request, library):
    """The same tokens go in: the probability of the last row's prediction is that of its step."""
    own = {"own": "explorable", "alone": "continuing"}
    model = request.getfixturevalue(own[name]) if name in own else library[name]
    prefix = {"own": "2 1", "alone": "3", "gpt2": " a cat", "bart": " the cat"}.get(name)

    def largest(logits):
        own = logits.clone()
        own[:1] = -torch.inf  # padding and beginnings are never chosen
        return float(logits.log_softmax(-1)[own.argmax()])

    found = patch(model, *TEXTS[name], metric=largest, prefix=prefix)
    for text, metric in zip(TEXTS[name], (found.clean, found.corrupted), strict=True):
        if name == "bert":
            steps = model.trace(text).steps()
            best = steps[steps["rank"] == 1].probability.iloc[-1]
            assert len(steps[steps["rank"] == 1]) == 1
        else:
            trace = model.trace(text, prefix=prefix, max_new_tokens=8)
            steps = trace.steps()
            row = len(model.passes.begun([text], [prefix], "one").queries.ids[0])
            of_row = steps[(steps.step == row) & (steps.token != "")]
            best = of_row.probability.max()
        assert metric == pytest.approx(np.log(best), abs=1e-3)


def test_without_a_metric_the_predictions_of_both_runs_are_compared():
    model = explorer.load("checkpoints/reverse.safetensors")
    found = model.patch("7 3 9 1 4", "7 3 9 1 5")
    assert found.metric == "logit '4' - logit '5'"
    same = model.patch("7 3 9 1 4", "7 3 9 1 5", metric=explorer.logit_difference("4", "5"))
    np.testing.assert_array_equal(found.table.metric, same.table.metric)
    states = model.patch("7 3 9 1 4", "7 3 9 1 5", sites="residual")
    assert states.matrix.loc["encoder", 1][4] > 0.98  # nothing else differs between the sources
    assert abs(states.matrix.loc["encoder", 1].drop(4)).max() < 0.01


PAIRS = [("1 2 3 甲 1", "1 2 2 甲 3"), ("3 1 2", "2 1 2"), ("2 3 2 1", "1 3 3 1")]


@pytest.mark.parametrize("options", [{}, {"sites": "paths", "receiver": "decoder.1.2"}])
def test_many_pairs_have_means_and_an_interval_over_pairs(continuing, options):
    """Beside each pair alone, and a bootstrap drawn here."""
    given = {"metric": some_metric, **options}
    found = patch(continuing, PAIRS, **given)
    each = [patch(continuing, *pair, **given) for pair in PAIRS]
    assert (found.pairs, found.receiver) == (3, each[0].receiver)
    assert found.clean == pytest.approx(np.mean([one.clean for one in each]))
    assert found.corrupted == pytest.approx(np.mean([one.corrupted for one in each]))
    parts = np.array([one.table.metric - one.corrupted for one in each])
    whole = np.array([one.clean - one.corrupted for one in each])
    table = found.table
    np.testing.assert_allclose(table.metric, np.mean([one.table.metric for one in each], 0))
    np.testing.assert_allclose(table.restored, parts.sum(0) / whole.sum())
    sign = np.sign(whole.sum())
    drawn = np.random.default_rng(0).multinomial(3, np.full(3, 1 / 3), 1000)
    totals, sizes = drawn @ (sign * parts), drawn @ (sign * whole)
    kept = sizes > 0
    ends = np.percentile(totals[kept] / sizes[kept, None], [2.5, 97.5], axis=0)
    np.testing.assert_allclose([table.low, table.high], ends, atol=1e-9)
    assert found.matrix.size == len(table)
    assert "of 3 pairs, some_metric" in repr(found)


def test_of_one_pair_there_is_no_interval(continuing):
    found = patch(continuing, PAIRS[:1], metric=some_metric, sites="residual")
    alone = patch(continuing, *PAIRS[0], metric=some_metric, sites="residual")
    np.testing.assert_allclose(found.table.restored, alone.table.restored)
    assert found.table[["low", "high"]].isna().all(axis=None)
    assert "clean_token" not in found.table


def test_pairs_are_compared_by_their_own_predictions():
    model = explorer.load("checkpoints/reverse.safetensors")
    pairs = [("7 3 9 1 4", "7 3 9 1 5"), ("2 3 9", "2 3 8")]
    found = model.patch(pairs)
    assert found.metric == "logit of the clean prediction - logit of the corrupted one"
    assert found.clean == pytest.approx(np.mean([model.patch(*pair).clean for pair in pairs]))


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ("1 2 3", {}, "Give a clean and a corrupted text, or a list"),
        ([], {}, "Give a clean and a corrupted text, or a list"),
        (["1 2", "2 1"], {}, "Give a clean and a corrupted text, or a list"),
        (3, {}, "int"),
        (PAIRS, {"sites": "residual"}, "different numbers of tokens"),
        ([PAIRS[0], ("1 2", "1 2 3")], {}, "Pair 2: Values are put in"),
        ([PAIRS[0], PAIRS[0][::-1]], {}, "sum to 0"),
    ],
)
def test_what_is_no_list_of_pairs_is_said(continuing, given, options, said):
    with pytest.raises(ExplorerError, match=said):
        patch(continuing, given, metric=some_metric, **options)


def test_a_classifier_is_patched_by_its_classes(tmp_path):
    model = load(bert(tmp_path / "own", head="BertForSequenceClassification", num_labels=2))
    texts = ("the cat sees a dog", "a dog sees the cat")
    found = patch(model, *texts, metric=explorer.logit_difference(0, 1))
    assert len(found.table) == len(model.passes.heads)
    with pytest.raises(ConfigError) as caught:
        patch(model, *texts, prefix="a")
    assert caught.value.key == "no_decoder"


WRONG = [
    ({"sites": "values"}, ConfigError, "patch_sites"),
    ({"sites": "paths"}, ConfigError, "patch_receiver"),
    ({"receiver": ("decoder", 1, 0)}, ConfigError, "patch_no_paths"),
    ({"sender": ("decoder", 0, 0)}, ConfigError, "patch_no_paths"),
    ({"batch_size": 0}, ConfigError, "no_whole_number"),
    ({"positions": [6]}, ConfigError, "patch_position"),
    ({"positions": []}, ConfigError, "patch_position"),
    ({"positions": "a"}, ConfigError, "patch_position"),
    ({"prefix": ("1", "2", "3")}, ConfigError, "patch_prefixes"),
    ({"prefix": ["1", "2 3"]}, VocabularyError, "patch_lengths"),
    ({"prefix": "1 2 3 1 2 3"}, VocabularyError, "long_target"),
    ({"prefix": 3}, VocabularyError, "no_text"),
    ({"metric": 3}, EvaluationBatchError, "no_metric"),
    ({"metric": lambda logits: logits}, EvaluationBatchError, "no_finite_metric"),
    ({"metric": lambda logits: 1}, EvaluationBatchError, "patch_equal_metrics"),
    ({"sites": "paths", "receiver": ("decoder", 2, 0)}, InterventionError, "patch_head"),
    ({"sites": "paths", "receiver": 3}, InterventionError, "patch_head"),
    ({"sites": "paths", "receiver": ("decoder", 0, 0)}, InterventionError, "patch_order"),
    (
        {"sites": "paths", "receiver": ("decoder", 1, 0), "sender": ("decoder", 1, 1)},
        InterventionError,
        "patch_order",
    ),
]


@pytest.mark.parametrize(("options", "kind", "key"), WRONG)
def test_what_cannot_be_patched_is_said(continuing, options, kind, key):
    with pytest.raises(ExplorerError) as caught:
        patch(continuing, *TEXTS["alone"], **{"metric": some_metric} | options)
    assert type(caught.value) is kind
    assert caught.value.key == key


def test_texts_of_unlike_length_are_refused_with_both_numbers(continuing, explorable):
    with pytest.raises(VocabularyError, match="clean one has 4 and the corrupted one 3"):
        patch(continuing, "1 2 3", "1 2")
    with pytest.raises(VocabularyError, match="clean one has 4 and the corrupted one 3"):
        patch(explorable, "1 2 3", "1 2")
    with pytest.raises(VocabularyError, match=r"with the start, the clean one has 2 and .* 3"):
        patch(explorable, "1 2", "1 2", prefix=("1", "1 2"))


def test_equal_runs_have_nothing_to_restore(continuing):
    with pytest.raises(EvaluationBatchError) as caught:
        patch(continuing, "1 2", "1 2")
    assert caught.value.key == "patch_same_prediction"


@pytest.mark.parametrize(
    ("name", "texts", "prefix", "step", "predicted"),
    [
        (
            "english-french",
            ("The black cat is asleep.", "The white cat is asleep."),
            "Le chat",
            3,
            ("▁noir", "▁blanc"),
        ),
        ("induction", ("7 3 9 1 5 7", "9 3 7 1 5 7"), None, 7, ("3", "1")),
        ("induction", ("7 3 9 1 5 7", "7 3 9 1 4 7"), "3 9 1", 10, ("5", "4")),
    ],
)
def test_two_texts_are_patched_where_their_outputs_part(name, texts, prefix, step, predicted):
    model = explorer.load(f"checkpoints/{name}.safetensors")
    one, other = (model.trace(text) for text in texts)
    assert common_output(one, other) == common_output(other, one) == prefix
    begun = len((prefix or "").split())
    assert output_of(one)[:begun] == output_of(other)[:begun]
    assert (output_of(one)[begun], output_of(other)[begun]) == predicted
    patched = patch_texts(model, one, other, "residual")
    expected = model.patch(*texts, prefix=prefix, sites="residual")
    assert (patched.prefix, patched.step, patched.found.predicted) == (prefix, step, predicted)
    assert [trace.predicted_tokens[step - 1] for trace in (one, other)] == list(predicted)
    assert patched.found.metric == expected.metric
    np.testing.assert_array_equal(patched.found.table, expected.table)


def test_two_texts_whose_outputs_do_not_part_are_refused(library):
    model = explorer.load("checkpoints/reverse.safetensors")
    one = model.trace("7 3 9")
    with pytest.raises(EvaluationBatchError, match="Both texts give the same output"):
        patch_texts(model, one, one, "heads")
    same = library["bert"].trace(TEXTS["bert"][0])
    with pytest.raises(EvaluationBatchError, match="Both texts give the same output"):
        patch_texts(library["bert"], same, same, "heads")
    pair = library["bert"].trace("the cat [MASK]", pair="a dog")
    with pytest.raises(EvaluationBatchError, match="two single texts"):
        patch_texts(library["bert"], pair, pair, "heads")


def test_outputs_that_begin_with_tokens_of_no_text_are_refused(library):
    """Half a character, which the tokenizer reads as its label."""
    one = library["gpt2"].trace("the cat", max_new_tokens=2)
    one, other = (
        replace(one, predicted_tokens=(*one.predicted_tokens[:-2], "<0xE4>", last), digest="")
        for last in ("one", "other")
    )
    with pytest.raises(EvaluationBatchError, match="begin with the tokens “‹E4›”"):
        patch_texts(library["gpt2"], one, other, "heads")


def test_outputs_that_part_only_by_the_rules_of_decoding_are_not_called_equal(library):
    """The second output is another one than its logits alone give."""
    one = library["gpt2"].trace("the cat", max_new_tokens=1)
    other = replace(one, predicted_tokens=(*one.predicted_tokens[:-1], "other"), digest="")
    with pytest.raises(EvaluationBatchError, match="Both runs predict"):
        patch_texts(library["gpt2"], one, other, "heads")


def test_the_common_output_of_bytes_keeps_its_space(library):
    """A word after a text is another token than a word at the beginning."""
    model = library["gpt2"]
    one = model.trace("the cat", max_new_tokens=2)
    other = replace(one, predicted_tokens=(*one.predicted_tokens[:-1], "other"), digest="")
    prefix = common_output(one, other)
    assert prefix is not None
    assert model.passes.begun(["the cat"], [prefix], "one").queries is not None
    assert prefix.startswith(" ") == output_of(one)[0].startswith("Ġ")


def test_the_numbers_of_the_document():
    """`docs/studies.md`; three heads together, because none alone does what any three do."""
    texts = ("7 3 9 1 5 7", "9 3 7 1 5 7")
    model = explorer.load("checkpoints/induction.safetensors")
    found = model.patch(*texts)
    assert (found.clean, found.corrupted) == pytest.approx((12.18, -12.04), abs=0.01)
    shares = found.matrix.loc["decoder"].to_numpy()
    np.testing.assert_allclose(shares[1], [0.168, 0.170, 0.230, 0.180], atol=1e-3)
    assert shares[0].max() < 0.001
    states = model.patch(*texts, sites="residual").matrix.loc["decoder", 0]
    assert states[[2, 4]].to_list() == pytest.approx([0.77, 0.49], abs=0.005)
    for head in range(4):
        paths = model.patch(*texts, sites="paths", receiver=("decoder", 1, head)).table.restored
        assert paths.between(-0.016, 0.004).all()
    batches = [model.passes.begun([text], [None], "one") for text in texts]
    runs = OwnRuns(model, batches)
    clean = values_of(runs, 0)[0]["decoder", 0]

    def together(site, layer, value, heads):
        mixed = value.clone()
        mixed[heads] = clean[heads]
        return mixed if layer == 0 else value

    ends = [runs.logits(number) for number in (0, 1)]
    one, other = (int(logits.argmax()) for logits in ends)
    for heads in combinations(range(4), 3):
        logits = runs.logits(1, heads=partial(together, heads=list(heads)))
        metric = float(logits[one] - logits[other])
        share = (metric - found.corrupted) / (found.clean - found.corrupted)
        assert 0.97 < share < 1.04
    model = explorer.load("checkpoints/english-french.safetensors")
    texts = ("The black cat is asleep.", "The white cat is asleep.")
    shares = model.patch(*texts, prefix="Le chat").matrix
    assert shares.loc["cross"].loc[2].between(0.06, 0.101).all()
    assert shares.loc["cross"].loc[1].max() == pytest.approx(0.07, abs=0.005)
    assert shares.loc["encoder"].max().max() == pytest.approx(0.04, abs=0.005)
    states = model.patch(*texts, prefix="Le chat", sites="residual").matrix
    assert states.loc["encoder", 2][1] == pytest.approx(1, abs=0.005)
    assert states.loc["decoder"][2].to_list() == pytest.approx([0.02, 0.35, 1], abs=0.005)
