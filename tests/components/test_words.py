"""The words that the browser explains: each metric and role has its formula and its paper."""

import re
from pathlib import Path

import pytest

from explorer.components.player.sentences import player_sentences
from explorer.core.i18n import section, table
from explorer.heads.metrics.attention_metrics import METRICS
from explorer.heads.roles.roles import ROLES

WORDS = (
    Path(__file__).parents[2] / "explorer" / "components" / "dom" / "js" / "words.ts"
).read_text("utf-8")
NAMES = re.findall(r"^  (\w+): \{", WORDS, re.MULTILINE)
PAPERS = set(re.findall(r'"(paper_\w+)"', WORDS))
EFFECTS = [f"{how}_{what}" for how in ("zero", "mean", "only") for what in ("loss", "exact")]


def test_every_word_has_its_name_and_its_sentence():
    known = player_sentences() | section("heads") | section("roles")
    for name in NAMES:
        assert {name, f"{name}_title"} <= set(known), name


@pytest.mark.parametrize("metric", [*METRICS, "importance", *EFFECTS])
def test_every_metric_has_a_formula_and_a_paper(metric):
    entry = re.search(rf"  metric_{metric}: \{{(.*?)\}},\n", WORDS, re.DOTALL)
    assert entry
    assert "formula" in entry[1]
    assert "paper_" in entry[1]


def test_every_role_has_a_formula():
    assert set(ROLES) <= set(NAMES)


def test_every_paper_has_its_name_and_its_address():
    sentences = section("player")
    assert PAPERS
    for paper in PAPERS:
        assert re.fullmatch(
            r"https://(arxiv\.org/abs/\d{4}\.\d{5}|transformer-circuits\.pub/\d{4}/\w+/index\.html)",
            sentences[f"{paper}_link"],
        )
        year = paper.rsplit("_", 1)[1]
        assert year in sentences[paper]


def test_gold_weight_is_explained_once():
    glossary, heads = table()["glossary"], table()["heads"]
    for end in ("", "_title"):
        assert glossary[f"gold_weight{end}"] == heads[f"metric_gold_weight{end}"]
