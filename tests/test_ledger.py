"""What was measured, as it is read on the page."""

from pathlib import Path

import pytest

from explorer import ledger
from explorer.findings import Findings

FOLDER = Path(__file__).parent.parent / "checkpoints" / "heads"


@pytest.fixture(scope="module")
def reverse() -> Findings:
    return Findings.load(FOLDER / "reverse.json")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.971, "0.97"), (-0.5, "−0.50"), (0.00031, "0.00"), (float("nan"), "–"), (0.0, "0.00")],
)
def test_numbers_are_short(value, text):
    assert ledger.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.00031, "+0.00031"), (-13.2412, "−13.24"), (-6.1e-5, "−6.1e−05")]
)
def test_a_change_has_its_sign_and_is_never_rounded_to_nothing(value, text):
    assert ledger.signed(value) == text


def test_the_interval_stands_beside_its_mean(reverse):
    table = ledger.looks(reverse, "en")
    assert len(table) == 24
    row = table.iloc[22]
    assert (row.site, row["head"], row.roles) == ("Cross", "L1 H2", "reverse, alignment")
    assert row.gold_weight == "0.96 (0.96–0.97)"
    assert row.distance == "–"


def test_roles_show_scores_and_what_cannot_appear(reverse):
    table = ledger.roles(reverse, "en")
    assert table.reverse[22] == "1.00 ✓"
    assert table.reverse[0] == "–"
    evidence = ledger.evidence(reverse, "cross", 1, 2, "en")
    assert list(evidence.verdict[:2]) == ["below the threshold", "✓ holds"]
    assert evidence.support[1] == "2176 queries, 256 sentences"
    (sentence,) = ledger.impossible(reverse, "cross", 1, 2, "en")
    assert sentence.startswith("previous position, own position, next position: This role cannot")


def test_no_clear_role_is_an_answer(reverse):
    assert ledger.roles_in_words(reverse, "encoder", 0, 0, "en") == "no clear role"
    assert ledger.heads_by_role(reverse, "encoder")["none"][0] == "L0 H0"


def test_confounds_are_said():
    copy = Findings.load(FOLDER / "copy.json")
    (sentence,) = ledger.confounds(copy, "cross", "en")
    assert "“copy” and “alignment” name the same position" in sentence


def test_redundancy_is_said(reverse):
    cross = ledger.redundancy(reverse, "en")[-1]
    assert cross == (
        "Cross: removing any one of 8 heads changes exact match by at most 2 points; "
        "removing all of them leaves 0 % of 98 %."
    )
