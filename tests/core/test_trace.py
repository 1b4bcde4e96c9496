from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import ExplorerError, FileError, TraceError
from explorer.core.trace import Trace, check_trace, second_text, typed_separator
from tests.support.small_trace import SOURCE, TARGET, small_trace


def test_labels_of_rows_and_columns_follow_the_site():
    trace = small_trace()
    assert trace.sites == ("encoder", "decoder", "cross")
    assert (trace.queries("encoder"), trace.keys("encoder")) == (SOURCE, SOURCE)
    assert (trace.queries("decoder"), trace.keys("decoder")) == (TARGET, TARGET)
    assert (trace.queries("cross"), trace.keys("cross")) == (TARGET, SOURCE)
    assert trace.attention("cross").shape == (2, 5, 3, 4)


def test_masks_are_true_where_a_query_may_attend_and_name_their_reason():
    trace = small_trace()
    assert trace.mask("decoder").tolist() == np.tril(np.ones((3, 3), bool)).tolist()
    assert trace.mask_reason("decoder")[0].tolist() == ["", "later position", "later position"]
    assert trace.mask_reason("cross")[:, 3].tolist() == ["padding"] * 3


def test_masks_that_differ_between_heads_need_layer_and_head():
    mask_codes = np.zeros((2, 5, 3, 4), np.uint8)
    mask_codes[1, 2, 0, 0] = 3
    arrays = dict(small_trace().arrays) | {"cross.closed": mask_codes}
    trace = small_trace(arrays=arrays)
    assert trace.mask_reason("cross", 1, 2)[0, 0] == "edited"
    assert trace.mask("cross", 0, 2).all()
    with pytest.raises(TraceError) as caught:
        trace.mask("cross")
    assert caught.value.key == "masks_differ"


def test_a_trace_is_read_only():
    trace = small_trace()
    with pytest.raises(ValueError, match="read-only"):
        trace.attention("cross")[0, 0, 0, 0] = 1
    with pytest.raises(AttributeError):
        trace.text = "else"
    with pytest.raises(TypeError):
        trace.facts["task"] = "copy"


def test_steps_list_the_candidates_with_true_ranks():
    steps = small_trace().steps()
    names = ["step", "rank", "token", "probability", "chosen", "forced", "id"]
    assert list(steps.columns) == names
    chosen = steps[steps.chosen]
    assert chosen.token.tolist() == ["b", "a", "<eos>"]
    assert chosen["rank"].tolist() == [1, 3, 1]
    assert chosen.forced.tolist() == [False, True, False]


def test_losses_are_minus_ln_of_the_chosen_probabilities():
    np.testing.assert_allclose(small_trace().losses, -np.log([0.5, 0.125, 0.75]), rtol=1e-6)


def test_table_labels_rows_with_queries_and_columns_with_keys():
    table = small_trace().table("cross", 1, 4)
    assert list(table.index) == ["0 <bos>", "1 b", "2 a"]
    assert list(table.columns) == ["0 a", "1 b", "2 <eos>", "3 <pad>"]
    assert table.loc["1 b", "0 a"] == small_trace().attention("cross")[1, 4, 1, 0]


def test_integrity_has_the_checks_that_were_measured():
    integrity = small_trace().integrity().set_index("check")
    assert integrity.ok.all()
    assert integrity.error["rows_sum_to_one"] < 1e-6
    assert integrity.error["masked_cells_are_zero"] == 0
    assert integrity.error["hooked_equals_plain"] == 1e-6
    assert "padding_changes_nothing" not in integrity.index


@pytest.mark.parametrize(
    ("cell", "value", "failed"),
    [
        ((0, 0, 0, 0), 0.9, {"rows_sum_to_one", "unchanged_since_capture"}),
        ((1, 4, 2, 3), 1e-6, {"masked_cells_are_zero", "unchanged_since_capture"}),
    ],
)
def test_integrity_detects_a_changed_cell(cell, value, failed):
    trace = small_trace()
    weights = np.array(trace.attention("cross"))
    weights[cell] = value
    changed = small_trace(
        arrays=dict(trace.arrays) | {"cross.attention": weights}, digest=trace.digest
    )
    integrity = changed.integrity()
    assert set(integrity.check[~integrity.ok]) == failed


def test_a_large_trace_is_hashed_by_layer_and_a_change_of_any_is_seen(monkeypatch):
    whole = small_trace()
    monkeypatch.setattr("explorer.core.trace.SHARED_TRACE", 0)
    trace = small_trace()
    assert trace.digest == small_trace().digest != whole.digest
    assert trace.integrity().ok.all()
    weights = trace.attention("cross").copy()
    weights[-1, -1, 0] = weights[-1, -1, 0, ::-1]
    changed = replace(trace, arrays=dict(trace.arrays) | {"cross.attention": weights})
    checks = changed.integrity().set_index("check")
    assert not checks.loc["unchanged_since_capture", "ok"]


def test_integrity_detects_swapped_tokens():
    changed = small_trace(source_tokens=("b", "a", "<eos>", "<pad>"), digest=small_trace().digest)
    integrity = changed.integrity().set_index("check")
    assert not integrity.ok["unchanged_since_capture"]


def test_a_file_round_trip_is_exact(tmp_path):
    trace = small_trace()
    trace.save(tmp_path / "x.trace")
    again = Trace.load(tmp_path / "x.trace")
    for name, array in trace.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)
        assert again.arrays[name].dtype == array.dtype
    for name in ("source_tokens", "target_tokens", "predicted_tokens", "text", "digest"):
        assert getattr(again, name) == getattr(trace, name)
    assert dict(again.facts) == {"task": "reverse"}
    assert again.integrity().ok.all()


def test_a_missing_file_is_reported():
    with pytest.raises(FileError) as caught:
        Trace.load("nowhere/x.trace")
    assert caught.value.key == "unreadable_file"


def test_an_unwritable_path_is_reported(tmp_path):
    for write in (small_trace().save, small_trace().to_html):
        with pytest.raises(FileError) as caught:
            write(tmp_path / "nowhere" / "x")
        assert caught.value.key == "unwritable_file"


@pytest.mark.parametrize(
    ("kind", "site", "key"),
    [("attention", "elsewhere", "unknown_site"), ("scores", "cross", "not_captured")],
)
def test_a_missing_site_or_kind_of_array_is_reported(kind, site, key):
    with pytest.raises(TraceError) as caught:
        getattr(small_trace(), kind)(site)
    assert caught.value.key == key


def test_masks_that_differ_between_layers_need_the_layer_alone():
    mask_codes = np.zeros((2, 1, 3, 4), np.uint8)
    mask_codes[1, 0, 2, 0] = 4
    trace = small_trace(arrays=dict(small_trace().arrays) | {"cross.closed": mask_codes})
    assert trace.mask_reason("cross", 1)[2, 0] == "outside the window"
    assert trace.mask("cross", 0, 3).all()
    with pytest.raises(TraceError):
        trace.mask("cross")


def test_a_row_and_its_sink_sum_to_one():
    arrays = dict(small_trace().arrays)
    weights = arrays["decoder.attention"]
    arrays |= {"decoder.attention": weights * np.float32(0.75)}
    short = small_trace(arrays=arrays).integrity().set_index("check")
    assert not short.ok["rows_sum_to_one"]
    arrays |= {"decoder.sink": np.full(weights.shape[:3], 0.25, np.float32)}
    whole = small_trace(arrays=arrays).integrity().set_index("check")
    assert whole.ok["rows_and_sink_sum_to_one"]
    assert "rows_sum_to_one" not in whole.index


def test_layers_of_a_hybrid_keep_their_numbers():
    assert small_trace().layer_numbers("decoder") == (0, 1)
    trace = small_trace(facts={"layer_numbers": {"decoder": [3, 7]}})
    assert trace.layer_numbers("decoder") == (3, 7)
    assert trace.layer_numbers("cross") == (0, 1)


def test_an_encoder_alone_has_candidates_for_some_positions():
    arrays = {name: small_trace().arrays[name] for name in ("encoder.attention", "encoder.closed")}
    arrays |= {
        "steps.step": np.array([2, 2]),
        "steps.rank": np.array([1, 2]),
        "steps.id": np.array([5, 6]),
        "steps.probability": np.array([0.5, 0.25], np.float32),
        "steps.chosen": np.array([True, False]),
        "steps.forced": np.zeros(2, bool),
    }
    given = {"target_tokens": (), "predicted_tokens": (), "candidate_tokens": ("x", "y")}
    trace = small_trace(arrays=arrays, **given)
    assert trace.steps().step.tolist() == [2, 2]
    assert trace.losses.shape == (0,)
    with pytest.raises(TraceError):
        small_trace(arrays=arrays | {"steps.chosen": np.zeros(2, bool)}, **given)


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda trace: trace.table("cross", 9, 0), "no_such_head"),
        (lambda trace: trace.table("cross", 0, "1"), "no_whole_number"),
        (lambda trace: trace.table("cross", None, 1), "no_whole_number"),
        (lambda trace: trace.table("cross", 0, True), "no_whole_number"),
        (lambda trace: trace.save(""), "empty_path"),
        (lambda trace: trace.queries("elsewhere"), "unknown_site"),
        (lambda trace: trace.keys(None), "unknown_site"),
        (lambda trace: trace.save(None), "no_path"),
        (lambda trace: trace.to_html(3), "no_path"),
        (lambda _: Trace.load(["x.trace"]), "no_path"),
        (lambda _: Trace.from_arrays(3, cross=np.ones((1, 1, 1, 1))), "no_tokens"),
        (lambda _: Trace.from_arrays([], masks=[True]), "no_masks"),
        (lambda _: check_trace("x.trace"), "not_a_trace"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(call, key):
    with pytest.raises(ExplorerError) as caught:
        call(small_trace())
    assert caught.value.key == key
    assert caught.value.in_language("zh") != str(caught.value)


def test_a_trace_is_written_with_its_model_its_texts_and_its_shapes():
    weights = np.full((1, 2, 2, 2), 0.5, np.float32)
    trace = Trace.from_arrays(("a", "b"), encoder=weights)
    assert repr(trace) == "Trace('a b' → ''; encoder (1, 2, 2, 2))"
    named = replace(trace, facts={"model": "mine", "text": "a, b"}, text="c")
    assert repr(named) == "Trace(mine: 'a, b' → 'c'; encoder (1, 2, 2, 2))"


def test_a_trace_without_steps_has_none_that_is_chosen():
    """The column is boolean, so that it still selects rows."""
    one = np.ones((1, 1, 1, 1), np.float32)
    steps = Trace.from_arrays(["a"], encoder=one).steps()
    assert steps[steps.chosen].empty
    assert list(steps[steps.chosen].columns) == list(small_trace().steps().columns)


def traced(tokens, **facts):
    size = len(tokens)
    plain = Trace.from_arrays(tokens, encoder=np.full((1, 1, size, size), 1 / size, np.float32))
    return Trace(plain.source_tokens, (), (), "", plain.arrays, facts=facts)


PAIR = ("[CLS]", "▁a", "[SEP]", "▁b", "[SEP]")


@pytest.mark.parametrize(
    ("second", "expected"),
    [(3, 3), (None, None), (0, None), (5, None), (-1, None), ("3", None), (True, None)],
)
def test_the_second_text_begins_inside_the_trace(second, expected):
    assert second_text(traced(PAIR, second=second)) == expected


def test_a_separator_that_was_typed_is_noticed():
    assert typed_separator(traced(PAIR, separator="[SEP]")) == "[SEP]"
    assert typed_separator(traced(PAIR[:3], separator="[SEP]")) == ""  # the one at the end
    assert typed_separator(traced(PAIR, separator="[SEP]", second=3)) == ""
    assert typed_separator(traced(PAIR)) == ""  # a model without segments
    assert typed_separator(traced(PAIR, separator=3)) == ""
