import numpy as np
import pytest
import torch

import explorer
from explorer.core.errors import PointError
from explorer.model.points import KINDS, Point
from explorer.model.text_run import points, run

TEXT = "1 2 3"


def uniform(pattern):
    return torch.full_like(pattern, 1 / pattern.size(-1))


def test_a_run_without_changes_has_the_logits_and_the_values_of_the_trace(explorable):
    trace = explorable.trace(TEXT, capture="full")
    read = [
        Point("pattern", "cross", 1),
        Point("scores", "cross", 1),
        Point("values", "encoder", 0),
        Point("heads", "decoder", 0),
        Point("residual", "decoder", 1),
        Point("token_vectors", "decoder"),
    ]
    found = run(explorable, TEXT, read=read)
    assert repr(found) == f"TextRun({trace.text!r}: {len(trace.target_tokens)} rows, 6 values)"
    expected = [
        trace.attention("cross")[1],
        trace.scores("cross")[1],
        trace.values("encoder")[0],
        trace.head_output("decoder")[0],
        trace.arrays["decoder.layer_output"][1],
        trace.arrays["decoder.token_vectors"],
    ]
    for point, array in zip(read, expected, strict=True):
        np.testing.assert_allclose(found.values[point][0], array, atol=1e-6)
    np.testing.assert_allclose(found.logits, trace.arrays["logits"], atol=1e-5)


def test_every_kind_can_be_changed_and_is_read_as_changed(explorable):
    plain = run(explorable, TEXT).logits
    for kind in KINDS:
        point = points(explorable, kind)[-1]
        change = torch.zeros_like if kind != "mask" else lambda mask: torch.ones_like(mask).tril(-1)
        found = run(explorable, TEXT, {point: change}, read=[point])
        assert (found.logits - plain).abs().max() > 1e-4, kind
        expected = change(found.values[point])
        assert torch.equal(found.values[point], expected), kind


def test_three_examples_of_five_lines(explorable):
    """A uniform pattern, a vector added to the residual stream, the queries of a layer."""
    cross = points(explorable, "pattern")[-1]
    found = run(explorable, TEXT, {cross: uniform}, read=[cross], target="3 2 1")
    assert found.values[cross].unique().tolist() == [0.25]
    by_row = explorable.trace(
        TEXT,
        target="3 2 1",
        override_row=[
            (cross.site, cross.layer, head, query, [1] * 4)
            for head in range(3)
            for query in range(len(found.trace.target_tokens))
        ],
        capture="full",
    )
    np.testing.assert_allclose(found.logits, by_row.arrays["logits"], atol=1e-5)

    residual, vector = Point("residual", "decoder", 1), torch.linspace(-1, 1, 12)
    pushed = run(explorable, TEXT, {residual: lambda stream: stream + vector}, read=[residual])
    plain = run(explorable, TEXT, read=[residual])
    difference = pushed.values[residual] - plain.values[residual]
    torch.testing.assert_close(difference, vector.expand_as(difference))

    queries = Point("query_vectors", "encoder", 0)
    assert run(explorable, TEXT, read=[queries]).values[queries].shape == (1, 3, 4, 4)


def test_a_query_without_any_key_reads_0_in_either_kernel(explorable):
    """The fused one where only the mask is changed, the explicit one where the pattern is read."""
    point, pattern = Point("mask", "cross", 0), Point("pattern", "cross", 0)
    actions = {point: torch.zeros_like}
    heads = Point("heads", "cross", 0)
    fused, explicit = (
        run(explorable, TEXT, actions, read=[heads, *more]) for more in ([], [pattern])
    )
    assert not fused.values[heads].any()
    assert not explicit.values[heads].any()
    assert not explicit.values[pattern].any()
    torch.testing.assert_close(fused.logits, explicit.logits)


def test_a_trace_keeps_its_interventions_and_actions_come_after_them(explorable):
    trace = explorable.trace(TEXT, ablate=[("cross", 1, 2)], target="3 2 1")
    heads = Point("heads", "cross", 1)
    found = run(explorable, trace, {heads: lambda value: value + 1}, read=[heads])
    assert found.trace is trace
    assert (found.values[heads][0, 2] == 1).all()
    same = run(explorable, TEXT, ablate=[("cross", 1, 2)], target="3 2 1")
    plain = run(explorable, trace)
    torch.testing.assert_close(same.logits, plain.logits)


def test_what_cannot_be_read_or_changed_is_refused_in_one_sentence(explorable):
    cross = ("pattern", "cross", 0)
    for actions, read, sentence in [
        ({}, ["pattern"], "no point of a pass: expected"),
        ({}, [("weights", "cross", 0)], "no point of a pass: expected"),
        ({}, [("pattern", "cross", "1")], "no point of a pass: expected"),
        ({}, [("pattern", "cross", True)], "no point of a pass: expected"),
        ({}, [("pattern", "cross", 7)], r"no cross\.7 in this model; such values are at"),
        ({("pattern", "nowhere", 0): uniform}, [], r"no nowhere\.0 in this model"),
        ({cross: lambda value: value[:, :1]}, [], r"given \(1, 3, \d+, 4\) torch.float32 and"),
        ({cross: lambda value: value.double()}, [], r"it returned \(1, 3, \d+, 4\) torch.float64"),
        ({cross: lambda value: None}, [], "it returned NoneType"),
        ({cross: 3}, [], "must be a dict from points to functions"),
        ([cross], [], "must be a dict from points to functions; list"),
        ({}, Point(*cross), "must be a list of points"),
        ({}, None, "must be a list of points"),
    ]:
        with pytest.raises(PointError, match=sentence) as caught:
            run(explorable, TEXT, actions, read=read)
        assert caught.value.in_language("zh") != str(caught.value)
    with pytest.raises(PointError, match="the kinds are mask, scores, pattern"):
        points(explorable, "attention")


def test_a_trace_of_another_model_or_with_options_beside_it_is_refused(explorable, continuing):
    trace = explorable.trace(TEXT)
    with pytest.raises(PointError, match="leave out ablate, prefix, or give the text"):
        run(explorable, trace, ablate=["cross.1.2"], prefix="1")
    with pytest.raises(PointError, match="of the model “alone” is expected; this one is of “tiny”"):
        run(continuing, trace)


def test_an_action_in_place_changes_its_own_value_alone(explorable):
    """Layers share a mask, and every run the position vectors of the model."""

    def without_key_1(mask):
        mask[..., 1:, 0] = False
        return mask

    def zeros(value):
        return value.zero_()

    plain = run(explorable, TEXT).logits
    first, second = (Point("mask", "decoder", layer) for layer in (0, 1))
    found = run(explorable, TEXT, {first: without_key_1}, read=[first, second])
    assert not found.values[first][..., 1:, 0].any()
    assert found.values[second][..., 0].all()
    for kind in ("position_vectors", "pattern", "residual"):
        point = points(explorable, kind)[-1]
        in_place = run(explorable, TEXT, {point: zeros}).logits
        assert torch.equal(in_place, run(explorable, TEXT, {point: torch.zeros_like}).logits)
    assert torch.equal(run(explorable, TEXT).logits, plain)


def test_a_value_that_was_read_may_be_changed_in_place(explorable):
    read = [points(explorable, kind)[-1] for kind in KINDS]
    first = run(explorable, TEXT, read=read)
    for value in first.values.values():
        value.zero_()
    again = run(explorable, TEXT, read=read)
    assert torch.equal(again.logits, first.logits)
    assert all(bool(value.any()) for value in again.values.values())


def test_the_mask_of_one_head_can_be_changed(explorable):
    point = Point("mask", "cross", 1)

    def of_head_2(mask):
        mask[:, 2, :, 0] = False
        return mask

    found = run(explorable, TEXT, {point: of_head_2}, read=[point], target="3 2 1")
    cells = [("cross", 1, 2, query, 0) for query in range(4)]
    edited = explorable.trace(TEXT, target="3 2 1", edit_mask=cells, capture="full")
    np.testing.assert_allclose(found.logits, edited.arrays["logits"], atol=1e-5)


def test_a_run_inside_an_action_has_none_of_the_actions_outside(explorable):
    heads = Point("heads", "encoder", 0)
    plain = run(explorable, "3 2", read=[heads]).values[heads]
    inside = []

    def patched(value):
        inside.append(run(explorable, "3 2", read=[heads]).values[heads])
        return value * 0

    run(explorable, TEXT, {heads: patched})
    assert torch.equal(inside[0], plain)


def test_values_may_go_on_into_the_model(explorable):
    """The logits of the last residual stream: of a model whose norm is after each sublayer."""
    last = points(explorable, "residual")[-1]
    found = run(explorable, TEXT, read=[last])
    stream = explorable.transformer.decoder.norm(found.values[last])
    torch.testing.assert_close(explorable.transformer.logits(stream)[0], found.logits)


def test_a_point_may_be_a_plain_tuple(explorable):
    point = ("pattern", "cross", 1)
    assert run(explorable, TEXT, read=[point]).values[point].shape[:2] == (1, 3)
    assert explorer.Point(*point) in points(explorable, "pattern")
