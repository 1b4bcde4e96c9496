"""Tables and sentences made of the shipped head reports."""

import math
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from explorer.app.experiment_cache import MeasuredEffect
from explorer.app.widgets import head_tables
from explorer.app.widgets.head_table_columns import columns
from explorer.core.i18n import say
from explorer.core.sites import SITES
from explorer.heads.reports.head_report import HeadReport

FOLDER = Path(__file__).parents[3] / "checkpoints" / "heads"


@pytest.fixture(scope="module")
def reverse() -> HeadReport:
    return HeadReport.load(FOLDER / "reverse.json")


def test_the_interval_is_beside_its_mean(reverse):
    table = head_tables.metrics(reverse, "en")
    assert len(table) == 24
    row = table.iloc[21]
    assert (row.site, row["head"], row.roles) == ("Cross", "L1 H1", "mirrored place")
    assert row.gold_weight == pytest.approx(0.97, abs=0.01)
    assert row.gold_weight_interval == "[0.97, 0.98]"
    assert math.isnan(row.distance)
    assert row.distance_interval == "–"


@pytest.mark.parametrize("kind", ["metrics", "effects"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_metric_is_sorted_as_a_number_and_has_its_interval_beside_it(reverse, kind, language):
    table = getattr(head_tables, kind)(reverse, language)
    shown = columns(table, language)
    names = [name for name in table if name in reverse.metrics]
    assert len(names) > 5
    for name in names:
        assert pd.api.types.is_float_dtype(table[name])
        beside = list(table)[list(table).index(name) + 1]
        assert beside == f"{name}_interval"
        assert {name, beside} <= set(shown)


def test_a_column_has_one_number_of_decimals_and_changes_have_signs(reverse):
    table = head_tables.effects(reverse, "en")
    for name in (one for one in table if one in reverse.metrics):
        ends = [
            end
            for text in table[f"{name}_interval"].drop_duplicates()
            if text not in ("–", "no change")
            for end in text[1:-1].split(", ")
        ]
        assert len({len(end.partition(".")[2]) for end in ends}) <= 1, name
        signed = [end for end in ends if end.strip("0.")]
        assert all((end[0] in "+−") == (name in head_tables.EFFECTS) for end in signed), name
    row = reverse.heads.iloc[0]
    low, high = 100 * row.zero_exact_low, 100 * row.zero_exact_high
    assert table.zero_exact_interval[0] == f"[{low:.1f}, {high:.1f}]".replace("-", "−")


def test_a_column_has_as_many_decimals_as_its_smallest_change_that_counts():
    def written(*values: float) -> list[str]:
        return list(map(head_tables.number_writer("zero_loss", values), values))

    assert written(0.86, 0.012) == ["+0.86", "+0.01"]
    assert written(0.86, 0.004, -0.0004) == ["+0.860", "+0.004", "0.000"]
    assert written(0.86, 0.0004) == ["+0.86", "0.00"]
    assert written(0.0056, 0.0006) == ["+0.0056", "+0.0006"]


def test_the_batch_is_named_in_the_language_of_the_page(reverse):
    assert "held out" in head_tables.batch_text(reverse, "en")
    assert "held out" not in head_tables.batch_text(reverse, "zh")


@pytest.mark.parametrize(
    ("targets", "words", "by_construction"),
    [("task", "the task's right answers", False), ("greedy", "own greedy output", True)],
)
def test_an_effect_says_which_targets_it_compares_with(targets, words, by_construction):
    numbers = {"before": [1.0, 0.5], "after": [0.96, 0.7], "change": [-0.04, 0.2]}
    numbers |= {"low": [-0.1, 0.11], "high": [0.0, 0.29]}
    table = pd.DataFrame(numbers, index=["exact", "loss"])
    effect = MeasuredEffect(table, 64, "some", targets)
    text = head_tables.effect_text(effect, "en")
    assert words in text
    assert "100.0\u00a0% → 96.0\u00a0%" in text
    assert head_tables.effect_losses(effect, "en") == (
        "Loss 0.50 → 0.70 a token (−ln of the right token's probability): +0.20, 95 % [0.11, 0.29]."
    )
    assert "ln" not in text
    assert (say("heads.effect_greedy") in text) == by_construction
    assert head_tables.effect_text(effect, "zh")


@pytest.mark.parametrize(
    ("before", "after", "low", "high"),
    [
        (3e-7, 0.0214, 0.0093, 0.0331),
        (0.504, 0.706, 0.11, 0.29),  # to two decimals .50 → .71, but +.20
        (2.3141, 2.3184, 0.0011, 0.0079),
        (1e-6, 12.51, 11.9, 13.2),
        (0.3149, 0.1151, -0.2049, -0.1949),
    ],
)
def test_all_losses_of_an_effect_have_the_same_decimals_and_add_up(before, after, low, high):
    numbers = {"before": [1.0, before], "after": [0.5, after], "change": [-0.5, after - before]}
    numbers |= {"low": [-0.6, low], "high": [-0.4, high]}
    table = pd.DataFrame(numbers, index=["exact", "loss"])
    text = head_tables.effect_losses(MeasuredEffect(table, 64, "some", "task"), "en")
    _, losses, change = re.split("Loss |: ", text)
    printed = [*re.findall(r"\d+\.\d+", losses), *re.findall(r"[+−]?\d+\.\d+", change)]
    assert len({len(number.partition(".")[2]) for number in printed}) == 1
    first, last, difference, *ends = (Decimal(number.replace("−", "-")) for number in printed)
    assert last - first == difference
    assert all(end != 0 for end in ends)


def test_an_effect_that_rounds_to_0_is_none():
    numbers = {"before": [1.0, 1e-6], "after": [1.0, 1.1e-6], "change": [0.0, 1e-7]}
    numbers |= {"low": [-0.02, 0.0], "high": [0.02, 2e-7]}
    table = pd.DataFrame(numbers, index=["exact", "loss"])
    text = head_tables.effect_losses(MeasuredEffect(table, 64, "some", "task"), "en")
    assert "Loss as before, 1e−6 a token" in text
    assert "95 %" not in text


def test_lists_in_chinese_have_chinese_punctuation(reverse):
    assert reverse.role_text("encoder", 0, 0, "zh") == "句末"
    assert head_tables.listed(["反转", "对齐"], "zh") == "反转、对齐"
    (sentence,) = head_tables.impossible(reverse, "cross", 1, 2, "zh")
    assert sentence.startswith("标点：")


def test_the_evidence_for_a_role_has_scores_and_names_impossible_roles(reverse):
    assert head_tables.head_of(reverse, 22) == ("cross", 1, 2)
    evidence = head_tables.evidence(reverse, "cross", 1, 2, "en")
    assert list(evidence.verdict[:2]) == ["below the threshold", "✓ holds"]
    assert evidence.support[1] == "2176 queries, 256 sentences"
    (absent,) = head_tables.impossible(reverse, "cross", 1, 2, "en")  # not those of self-attention
    assert absent == "punctuation: These sentences have no such token."
    assert "punctuation" not in evidence.role.tolist()
    assert list(evidence.chance[:3]) == ["0.10", "0.10", "0.10"]
    assert evidence.effect[1].startswith("+0.")


def test_a_head_whose_interval_reaches_below_the_threshold_has_no_role(reverse):
    roles = reverse.roles
    own = (roles.site == "encoder") & (roles.layer == 0) & (roles["head"] == 0)
    changed = roles.assign(
        low=roles.low.where(~(own & (roles.role == "sink")), 0.49),
        holds=roles.holds & ~(own & (roles.role == "sink")),
    )
    table = head_tables.evidence(replace(reverse, roles=changed), "encoder", 0, 0, "en")
    verdict = dict(zip(table.role, table.verdict, strict=True))
    assert verdict["start or end"] == "the interval reaches below the threshold"
    assert verdict["itself"] == "below the threshold"


def test_a_head_may_have_no_clear_role(reverse):
    assert reverse.role_text("decoder", 1, 0, "en") == "no clear role"
    assert "L1 H0" in head_tables.heads_by_role(reverse, "decoder", "en")["no clear role"]
    assert head_tables.heads_by_role(reverse, "encoder", "en")["near a role"][0] == "L0 H3"
    assert list(head_tables.heads_by_role(reverse, "cross", "en")) == ["mirrored place"]


def test_a_translation_has_its_nearest_roles_and_copies_nothing():
    french = HeadReport.load(FOLDER / "english-french-early.json")
    table = head_tables.metrics(french, "en")
    roles = head_tables.evidence(french, "cross", 0, 0, "en").role.tolist()
    assert "same place" in roles
    named = table.roles[table.roles.str.startswith("partly ")]
    lists = [head_tables.heads_by_role(french, site, "en") for site in SITES]
    assert sum(len(one.get("near a role", ())) for one in lists) == len(named)
    without = (table.roles == "no clear role").sum()
    assert sum(len(one.get("no clear role", ())) for one in lists) == without
    assert len(named) > 10


def test_confounded_roles_are_named():
    copy = HeadReport.load(FOLDER / "copy.json")
    sentence, _ = head_tables.confounds(copy, "cross", "en")
    assert "“same place” and “finds the symbol” name the same position" in sentence


def changed(report: HeadReport, *values: float) -> HeadReport:
    """`report` with the change of its exact match, and its ends, in each head."""
    columns = dict(zip(("zero_exact", "zero_exact_low", "zero_exact_high"), values, strict=True))
    return report.with_columns(report.heads[["site", "layer", "head"]].assign(**columns))


def test_where_no_sentence_changes_the_table_says_so_and_how_many_may(reverse):
    table = head_tables.effects(changed(reverse, 0, 0, 0), "en")
    assert set(table.zero_exact) == {0}
    assert set(table.zero_exact_interval) == {"no change"}
    assert set(head_tables.effects(changed(reverse, 0, -0.01, 0.01), "zh").zero_exact_interval) == {
        "[−1.0, +1.0]"
    }
    text = head_tables.unchanged_text(changed(reverse, 0, 0, 0), "en")
    assert text == say("heads.no_change_allows", count=256, share="1.2")


def test_nothing_is_said_of_no_change_where_each_head_changes_a_sentence(reverse):
    heads = reverse.heads[["site", "layer", "head"]]
    names = [name for name in head_tables.EFFECTS if name in reverse.metrics]
    ends = {f"{name}{end}": value for name in names for end, value in (("_low", -1), ("_high", 0))}
    assert head_tables.unchanged_text(reverse.with_columns(heads.assign(**ends)), "en") == ""
    without = replace(reverse, facts={**reverse.facts, "ablation": None})
    assert head_tables.unchanged_text(without, "en") == ""


def test_redundancy_is_not_told_of_one_sentence(reverse):
    ablation = reverse.facts["ablation"] | {"sentences": 1}
    one = replace(reverse, facts={**reverse.facts, "ablation": ablation})
    assert head_tables.redundancy(one, "en") == []


def test_redundancy_of_a_translator_is_told_of_the_loss():
    report = HeadReport.load(FOLDER / "english-french.json")
    keys = report.heads[["site", "layer", "head"]]
    sentence = head_tables.redundancy(report.with_columns(keys.assign(zero_loss=0.0056)), "en")[0]
    assert sentence == (
        "Encoder: without the head that costs most, the loss of a token rises by 0.0056; without "
        "all, from 0.84 to 1.16."
    )


def test_redundancy_is_described(reverse):
    cross = head_tables.redundancy(reverse, "en")[-1]
    assert cross == (
        "Cross: without the head that costs most, 94 of 100 answers are still right; "
        "without all, 0."
    )


def test_an_interval_of_a_loss_that_would_be_written_as_none_says_what_it_is_within(reverse):
    """Of less than 0.0005 nats: “[0.000, 0.000]” would be surer than “no change”."""
    tiny = reverse.heads.assign(zero_loss=2e-6, zero_loss_low=-1e-7, zero_loss_high=6e-6)
    table = head_tables.effects(replace(reverse, heads=tiny), "en")
    assert set(table.zero_loss_interval) == {"±0.0005"}
