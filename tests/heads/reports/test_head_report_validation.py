import copy

import pytest

from explorer.core import folders
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.reports.head_report_validation import (
    check_facts,
    check_heads,
    check_offsets,
    check_roles,
)


@pytest.fixture(scope="module")
def report() -> HeadReport:
    return HeadReport.load(folders.shipped_reports() / "reverse.json")


def test_the_parts_of_a_shipped_report_pass(report):
    check_heads(report.heads)
    check_roles(report.roles, report.heads)
    check_offsets(report.offsets, report.heads)
    check_facts(report.facts, report.heads)


@pytest.mark.parametrize(
    "damage",
    [
        lambda heads: heads.iloc[:0],
        lambda heads: heads.assign(entropy="high"),
        lambda heads: heads.assign(site="output"),
        lambda heads: heads.assign(layer=-1),
        lambda heads: heads.assign(head=0.5),
        lambda heads: heads.drop(columns="head"),
        lambda heads: heads.iloc[[0, 0]],
    ],
)
def test_heads_with_missing_double_or_malformed_rows_are_refused(report, damage):
    with pytest.raises(ValueError, match="no head report"):
        check_heads(damage(report.heads))


@pytest.mark.parametrize(
    "damage",
    [
        lambda roles: roles.assign(role="leader"),
        lambda roles: roles.assign(doubt="perhaps"),
        lambda roles: roles.assign(holds="yes"),
        lambda roles: roles.assign(score="0.9"),
        lambda roles: roles.assign(chance="0.1"),
        lambda roles: roles.drop(columns="effect_low"),
        lambda roles: roles.drop(columns="threshold"),
        lambda roles: roles.iloc[1:],
    ],
)
def test_unknown_roles_and_incomplete_evidence_are_refused(report, damage):
    with pytest.raises(ValueError, match="no head report"):
        check_roles(damage(report.roles), report.heads)


@pytest.mark.parametrize(
    "damage",
    [
        lambda offsets: offsets.assign(share="0.9"),
        lambda offsets: offsets.assign(offset=9),
        lambda offsets: offsets.assign(site="output"),
        lambda offsets: offsets.drop(columns="chance"),
        lambda offsets: offsets.iloc[1:],
    ],
)
def test_unknown_offsets_and_missing_heads_are_refused(report, damage):
    with pytest.raises(ValueError, match="no head report"):
        check_offsets(damage(report.offsets), report.heads)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("linked", {"batch": "gold.tsv", "sentences": -1}),
        ("linked", {"batch": 3, "sentences": 1}),
        ("model", 3),
        ("sentences", -1),
        ("sentences", True),
        ("targets", "guessed"),
        ("level", 95),
        ("confounds", {}),
        ("confounds", [{"roles": ["copy", "leader"], "site": "cross", "share": 1.0}]),
    ],
)
def test_facts_of_another_type_or_range_are_refused(report, name, value):
    with pytest.raises(ValueError, match="no head report"):
        check_facts({**report.facts, name: value}, report.heads)


def test_an_ablation_needs_its_shares_and_its_columns(report):
    facts = copy.deepcopy(dict(report.facts))
    for column in ("zero_exact", "zero_loss"):
        with pytest.raises(ValueError, match="no head report"):
            check_facts(facts, report.heads.drop(columns=column))
    for name, odd in (("exact", [0.9, 1.5]), ("loss", [1.0]), ("loss", [1.0, "2"])):
        damaged = copy.deepcopy(facts)
        damaged["ablation"]["together"]["cross"][name] = odd
        with pytest.raises(ValueError, match="no head report"):
            check_facts(damaged, report.heads)
