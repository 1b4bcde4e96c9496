from pathlib import Path

import numpy as np
import pytest
import torch

from explorer.core.errors import EvaluationBatchError
from explorer.core.vocabulary import EOS
from explorer.data.task_names import task_of
from explorer.heads.measure import measure
from explorer.heads.metrics import attention_metrics
from explorer.heads.metrics.attention_metrics import METRICS
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.heads.removal.counterfactuals import mean_outputs
from explorer.heads.reports.head_report import HeadReport
from explorer.model.explorable import load

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"


@pytest.fixture
def report(explorable):
    return measure(explorable, task_sentences(explorable, 30))


def test_every_head_has_every_metric_with_an_interval(report):
    heads = report.heads
    assert heads.groupby("site").size().to_dict() == {"encoder": 3, "decoder": 6, "cross": 6}
    assert set(report.metrics) == set(METRICS)
    for name in METRICS:
        own = heads[heads[name].notna()]
        assert len(own)
        assert (own[f"{name}_low"] <= own[name] + 1e-12).all()
        assert (own[name] <= own[f"{name}_high"] + 1e-12).all()
    assert heads.distance.isna().tolist() == (heads.site == "cross").tolist()
    assert heads.gold_weight.notna().tolist() == (heads.site == "cross").tolist()


@pytest.mark.parametrize("batch", [np.array(["1 2", "3"]), ["1 2"], "1 2", None])
def test_what_is_no_batch_is_refused_with_the_way_to_one(batch, explorable):
    with pytest.raises(EvaluationBatchError, match=r"model\.passes\.texts") as caught:
        measure(explorable, batch)
    assert type(batch).__name__ in caught.value.in_language("zh")


def test_a_batch_gives_the_mean_over_its_sentences(explorable):
    """Each sentence traced by itself, without padding; every query weighs the same."""
    pairs = [("1 2 3", "3 2 1"), ("甲", "甲 1"), ("2 2 1 3 甲 1", "3")]
    heads = measure(explorable, explorable.passes.pairs(pairs, "three")).heads
    for site in ("encoder", "decoder", "cross"):
        found: dict[str, list] = {"confidence": [], "entropy": [], "sink": []}
        for source, target in pairs:
            trace = explorable.trace(source, target=target)
            weights = trace.attention(site).reshape(1, -1, *trace.attention(site).shape[2:])
            unmasked = trace.mask(site)[None]
            tokens = np.array(trace.keys(site))[None]
            end, special = tokens == "<eos>", (tokens == "<bos>") | (tokens == "<eos>")
            found["confidence"].append(attention_metrics.confidence(weights, unmasked, end))
            found["entropy"].append(attention_metrics.entropy(weights, unmasked))
            cells = unmasked & special[:, None]
            found["sink"].append(attention_metrics.mass_on(weights, cells, unmasked.sum(-1) > 1))
        for name, means in found.items():
            mean = sum(m.total[0] for m in means) / sum(m.count[0] for m in means)
            np.testing.assert_allclose(heads[heads.site == site][name], mean, atol=1e-6)


def test_the_facts_name_model_and_batch(explorable, report):
    assert report.facts["sentences"] == 30
    assert report.facts["targets"] == "task"
    assert report.facts["batch"].startswith("reverse, held out")
    assert report.facts["digest"] == explorable.digest
    with torch.no_grad():
        explorable.transformer.logits.bias[EOS] += 1
    assert report.facts["digest"] != explorable.digest


def test_roles_that_cannot_be_given_have_a_reason(explorable):
    report = measure(explorable, explorable.passes.texts(["1 2 3 甲", "2 1"], "mine"))
    assert report.facts["targets"] == "greedy"
    roles = report.roles.set_index(["site", "layer", "head", "role"])
    assert roles.doubt["cross", 0, 0, "alignment"] == "no_gold"
    assert roles.doubt["decoder", 0, 0, "next"] == "later"
    assert roles.doubt["cross", 0, 0, "next"] == "elsewhere"
    assert roles.doubt["encoder", 0, 0, "self"] == "too_few"
    assert not roles.holds[roles.doubt != ""].any()
    assert report.roles_of("encoder", 0, 0) == ()


def test_on_reverse_two_roles_are_confounded(report):
    pairs = [(one["site"], *one["roles"], one["share"]) for one in report.facts["confounds"]]
    assert pairs == [
        ("encoder", "sink", "end", 1.0),
        ("cross", "reverse", "alignment", 1.0),
        ("cross", "sink", "end", 1.0),
    ]
    assert report.confounded("cross", "reverse") == ("alignment",)
    assert report.confounded("encoder", "self") == ()


def test_a_role_holds_from_the_lower_end_of_its_interval_on_and_above_chance(report):
    roles = report.roles
    assert (roles.holds <= ((roles.low >= roles.threshold) & (roles.doubt == ""))).all()
    placed = roles[roles.effect.notna()]
    np.testing.assert_allclose(placed.effect, placed.score - placed.chance, atol=1e-12)
    assert (placed.effect_low <= placed.effect + 1e-12).all()
    assert (placed.effect <= placed.effect_high + 1e-12).all()
    assert (placed.holds <= (placed.effect_low > 0)).all()
    assert set(roles[roles.effect.isna() & (roles.doubt == "")].role) == {"diffuse"}


def test_what_is_always_so_is_no_role(explorable):
    """Of one symbol and its end, each key is one of two: nothing is above chance for certain."""
    batch = explorable.passes.pairs([("1", "1")] * 40, "short")
    roles = measure(explorable, batch).roles.set_index(["site", "role"]).sort_index()
    assert roles.chance["encoder", "end"].eq(0.5).all()
    assert roles.chance["cross", "copy"].eq(0.5).all()


def test_punctuation_and_repeated_tokens_are_found(explorable):
    """The vocabulary has no mark: without one the role has no score; with repeats it has."""
    batch = explorable.passes.pairs([("1 2 1", "3 3 3")] * 10, "repeats")
    roles = measure(explorable, batch).roles.set_index(["site", "layer", "head", "role"])
    assert roles.doubt["encoder", 0, 0, "punctuation"] == "absent"
    assert roles.queries["encoder", 0, 0, "same_token"] == 20  # 1 and 1
    assert roles.queries["decoder", 0, 0, "same_token"] == 20  # 3 3, then 3 3 3: <bos> is another
    assert roles.chance["encoder", 0, 0, "same_token"] == pytest.approx(1 / 4)
    assert roles.chance["decoder", 0, 0, "same_token"] == pytest.approx((1 / 3 + 2 / 4) / 2)


def test_the_offsets_of_a_head_are_those_of_its_traces(explorable):
    report = measure(explorable, explorable.passes.pairs([("1 2 3 甲", "3 2 1 1 2")], "one"))
    trace = explorable.trace("1 2 3 甲", target="3 2 1 1 2")
    peaks = trace.attention("decoder")[1, 2].argmax(-1)[1:]  # row 0 has one key
    own = report.offsets.query("site == 'decoder' and layer == 1 and head == 2")
    for delta in (-2, -1, 0):
        rows = np.arange(max(1, -delta), 6)
        row = own[own.offset == delta].iloc[0]
        assert row.queries == len(rows)
        assert row.share == pytest.approx(np.mean(peaks[rows - 1] - rows == delta))
        assert row.chance == pytest.approx(np.mean(1 / (rows + 1)))


def test_progress_is_reported_and_may_end_the_work(explorable):
    shares: list[float] = []
    measure(explorable, task_sentences(explorable, 40), shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1

    def stop(share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(explorable, task_sentences(explorable, 40), stop)


def test_gradients_and_ablation_add_columns_to_the_same_table(explorable):
    report = measure(explorable, task_sentences(explorable, 12), gradients=True, removed_on=4)
    for name in ("confidence", "importance", "zero_loss", "mean_exact", "only_loss"):
        assert name in report.metrics
        assert report.heads[name].notna().any()
    assert len(report.heads) == 15
    means = mean_outputs(explorable, task_sentences(explorable, 12))
    facts = dict(report.facts["ablation"])
    assert set(facts.pop("together")) == {"encoder", "decoder", "cross"}
    assert facts == {"sentences": 4, "means": means.name}


@pytest.mark.parametrize("options", [{}, {"gradients": True}, {"removed_on": 2}])
def test_progress_goes_from_0_to_1_whatever_is_measured(explorable, options):
    shares: list[float] = []
    measure(explorable, task_sentences(explorable, 8), shares.append, **options)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= 1
    assert shares[-1] == pytest.approx(1)


def test_the_heads_of_the_shipped_reverse_model_have_their_roles(reverse_model):
    report = measure(reverse_model, task_sentences(reverse_model, 128))
    readers = [(0, 3), *((1, head) for head in range(4))]
    for layer in range(2):
        for head in range(4):
            reads = (layer, head) in readers
            roles = ("reverse", "alignment") if reads else ("alignment",)
            assert report.roles_of("cross", layer, head) == roles
    last = report.roles.query("site == 'cross' and layer == 1 and role == 'reverse'")
    assert (last.score > 0.92).all()
    assert (last.low > last.threshold).all()
    assert (last.sentences == 128).all()
    assert report.confounded("cross", "reverse") == ("alignment",)
    assert report.roles_of("decoder", 0, 0) == ()
    best = report.heads.set_index(["site", "layer", "head"]).gold_weight["cross", 1, 1]
    assert best == pytest.approx(0.97, abs=0.02)


@pytest.mark.parametrize(
    "path", sorted(CHECKPOINTS.glob("*.safetensors")), ids=lambda path: path.stem
)
def test_a_shipped_report_is_that_of_its_shipped_model(path):
    report = HeadReport.load(CHECKPOINTS / "heads" / f"{path.stem}.json")
    shipped = load(path)
    assert report.facts["digest"] == shipped.digest
    assert {"importance", "zero_loss", "mean_exact", "only_exact"} <= set(report.metrics)
    if task_of(shipped.facts) is None:  # its sentences do not ship
        assert len(report.heads) == len(shipped.transformer.config.all_heads)
        assert report.heads["confidence"].between(0, 1).all()
        return
    again = measure(shipped, task_sentences(shipped, report.facts["sentences"]))
    own = again.heads.select_dtypes("number")
    np.testing.assert_allclose(report.heads[own.columns], own, atol=2e-3)


def test_the_heads_of_a_decoder_alone_are_measured_on_the_next_tokens(continuing):
    batch = continuing.passes.texts(["1 2 1 2 3", "甲 3 甲", "3 3 2 1"], "mine")
    report = measure(continuing, batch, gradients=True, removed_on=2)
    assert report.heads.groupby("site").size().to_dict() == {"decoder": 6}
    assert report.facts["targets"] == "next"
    assert {"importance", "zero_loss", "mean_loss"} <= set(report.heads)
    known = {
        role
        for role, doubt in zip(report.roles.role, report.roles.doubt, strict=True)
        if doubt not in ("elsewhere", "later")
    }
    assert {"previous", "self", "same_token", "sink", "diffuse"} <= known
