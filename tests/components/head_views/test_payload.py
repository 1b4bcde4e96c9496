from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from explorer.components.head_views.payload import (
    Sides,
    head_grid_payload,
    metric_matrix_payload,
    model_comparison_payload,
    words_payload,
)
from explorer.components.player.payload import View
from explorer.core.i18n import table
from explorer.heads.comparison.attention_comparison import compare
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.patching.patching_result import PatchedTexts, Patching
from explorer.heads.reports.head_report import HeadReport
from explorer.heads.roles.roles import ROLES
from tests.support.example_traces import example_trace
from tests.support.payloads import unpack_payload

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def report() -> HeadReport:
    return HeadReport.load(ROOT / "checkpoints" / "heads" / "reverse.json")


def test_the_head_grid_gets_the_trace_and_the_head_report(report):
    header, parts = unpack_payload(head_grid_payload(example_trace(), report))
    inner, _ = unpack_payload(parts["trace"].tobytes())
    assert inner["target"] == list(example_trace().target_tokens)
    head = header["heads"]["cross"][6]
    assert (head["layer"], head["head"]) == (1, 2)
    assert head["roles"] == ["reverse=alignment"]
    assert head["role_caption"] == "mirrored place"
    assert head["role_lines"] == ["mirrored place: 100\u00a0% (by chance 10\u00a0%)"]
    assert ["reverse=alignment", "mirrored place"] in header["role_groups"]["cross"]
    row = report.heads.query("site == 'cross' and layer == 1 and head == 2").iloc[0]
    assert head["metrics"]["gold_weight"] == [
        row.gold_weight,
        row.gold_weight_low,
        row.gold_weight_high,
    ]
    assert head["metrics"]["distance"] == [None] * 3  # it has no meaning in cross-attention


@pytest.mark.parametrize(("name", "count"), [("reverse", None), ("english-french", 100)])
def test_the_gold_metrics_are_of_the_linked_sentences_where_those_are_others(name, count):
    own = HeadReport.load(ROOT / "checkpoints" / "heads" / f"{name}.json")
    header, _ = unpack_payload(head_grid_payload(example_trace(), own))
    assert header["linked_on"] == count
    assert header["sentences"] == 256


def test_a_head_without_a_role_has_its_nearest_in_the_language_of_the_page(report):
    header, _ = unpack_payload(head_grid_payload(example_trace(), report, language="zh"))
    head = header["heads"]["decoder"][3]
    assert head["roles"] == []
    assert head["role_caption"] == "部分看自己"
    (line,) = head["role_lines"]
    assert line.startswith("部分看自己：8")


def test_the_head_grid_works_without_a_head_report():
    header, _ = unpack_payload(head_grid_payload(example_trace(), None))
    assert header["heads"] == {}
    assert len(header["roles"]) == len(ROLES)
    assert header["role_groups"] == {}


def test_two_models_are_sent_with_the_similarity_of_their_heads():
    one, other = example_trace(), example_trace(seed=8)
    free = replace(other, predicted_tokens=("x", *other.predicted_tokens[1:]))
    sides = Sides(("late", "early"), "early, given the output of late")
    payload = model_comparison_payload(
        TraceComparison(one, free, other), sides, language="zh", view=View(other=(0, 1))
    )
    header, parts = unpack_payload(payload)
    assert header["strings"]["page"] == table()["heads"]["page"]["zh"]
    assert header["names"] == ["late", "early"]
    assert header["pair"] == [0, 1]
    assert (header["given"], header["rule"]) == (sides.given, "matched")
    assert header["outputs"] == [list(one.predicted_tokens), list(free.predicted_tokens)]
    compared = compare(one, other)
    similarity, matched = compared.similarity, compared.matched()
    for site in one.sites:
        heads = one.attention(site).shape[0] * one.attention(site).shape[1]
        sent = parts[f"similarity.{site}"].reshape(heads, heads)
        np.testing.assert_allclose(sent, similarity.loc[[site], [site]].to_numpy(), atol=1e-6)
        similar = header["similar"][site]
        assert similar["order"] == [list(order) for order in compared.clustered(site)]
        here = matched[matched.site == site]
        places = here[["layer", "head", "other_layer", "other_head"]]
        assert similar["matched"] == places.to_numpy().tolist()


def test_two_texts_are_sent_position_by_position():
    one, other = example_trace(), example_trace(seed=8)
    other = replace(other, source_tokens=tuple(reversed(other.source_tokens)), digest="")
    compared = TraceComparison(one, other, other, by="position")
    sides = Sides(("a", "b"), rule="same")
    header, parts = unpack_payload(model_comparison_payload(compared, sides))
    assert (header["given"], header["rule"]) == ("", "same")
    expected = compare(one, other, by="position").similarity
    for site in one.sites:
        sent = parts[f"similarity.{site}"]
        np.testing.assert_allclose(sent, expected.loc[[site], [site]].to_numpy().ravel(), atol=1e-6)


def test_what_was_patched_is_sent_by_site_or_stack():
    trace = example_trace()
    compared = TraceComparison(trace, trace, trace, by="position")
    rows = [
        ("encoder", 0, 0, "a", "a", 1.5, 0.25),
        ("encoder", 0, 1, "b", "c", 2.0, 0.5),
        ("decoder", 0, 0, "<bos>", "<bos>", 0.5, -0.25),
    ]
    places = ["stack", "layer", "position", "clean_token", "corrupted_token"]
    table = pd.DataFrame(rows, columns=[*places, "metric", "restored"])
    found = Patching("residual", "m", 3.0, 1.0, table, predicted=("x", "y"))
    payload = model_comparison_payload(
        compared, Sides(("a", "b")), patched=PatchedTexts(found, "so far", 3)
    )
    assert unpack_payload(payload)[0]["patched"] == {
        "prefix": "so far",
        "step": 3,
        "predicted": ["x", "y"],
        "metrics": [3.0, 1.0],
        "tables": [
            {
                "site": "encoder",
                "tokens": [["a", "a"], ["b", "c"]],
                "cells": [[0, 0, 0.25, 1.5], [0, 1, 0.5, 2.0]],
            },
            {
                "site": "decoder",
                "tokens": [["<bos>", "<bos>"]],
                "cells": [[0, 0, -0.25, 0.5]],
            },
        ],
    }


def test_the_metric_matrix_has_every_metric(report):
    header, parts = unpack_payload(metric_matrix_payload(report, "reverse, held out"))
    assert header["batch"] == "reverse, held out"
    assert not parts
    assert tuple(header["metrics"]) == report.metrics
    assert [len(header["heads"][site]) for site in ("encoder", "decoder", "cross")] == [8, 8, 8]


def test_every_metric_has_its_sentences(report):
    strings = table()["heads"]
    for name in report.metrics:
        assert {f"metric_{name}", f"metric_{name}_title"} <= set(strings)


def test_the_words_of_a_table_have_their_sentences_and_the_papers():
    names = ["metric_sink", "sink"]
    header, _ = unpack_payload(words_payload(names, "what", "given", language="zh"))
    assert header["words"] == names
    assert header["strings"]["sink_title"] == table()["roles"]["sink_title"]["zh"]
    assert header["player_strings"]["paper_voita_2019_link"].startswith("https://")
