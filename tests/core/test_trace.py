import io
import json
import zipfile

import numpy as np
import pytest
import torch

from explorer.core.errors import FileError, TraceError
from explorer.core.mask_reasons import LATER, PADDING, UNMASKED, mask_codes
from explorer.core.trace import Trace
from explorer.core.trace_file import pack

SOURCE = ("a", "b", "<eos>", "<pad>")
TARGET = ("<bos>", "b", "a")


def softmax(shape: tuple[int, ...], mask: np.ndarray, seed: int = 0) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(size=shape)
    weights = np.where(mask, np.exp(scores), 0)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def make(**changes: object) -> Trace:
    closed = {
        "encoder": mask_codes(4, 4, padded_keys=1),
        "decoder": mask_codes(3, 3, causal=True),
        "cross": mask_codes(3, 4, padded_keys=1),
    }
    arrays = {f"{site}.closed": codes for site, codes in closed.items()} | {
        f"{site}.attention": softmax((2, 5, *codes.shape), codes == UNMASKED)
        for site, codes in closed.items()
    }
    steps = {  # two candidates a step; at step 2 a person chose the third best
        "steps.step": np.array([1, 1, 2, 2, 2, 3, 3]),
        "steps.rank": np.array([1, 2, 1, 2, 3, 1, 2]),
        "steps.id": np.array([4, 3, 4, 2, 3, 2, 3]),
        "steps.probability": np.array([0.5, 0.25, 0.5, 0.25, 0.125, 0.75, 0.1], np.float32),
        "steps.chosen": np.array([1, 0, 0, 0, 1, 1, 0], bool),
        "steps.forced": np.array([0, 0, 0, 0, 1, 0, 0], bool),
    }
    given = {
        "source_tokens": SOURCE,
        "target_tokens": TARGET,
        "predicted_tokens": ("b", "a", "<eos>"),
        "text": "b a",
        "arrays": arrays | steps,
        "candidate_tokens": ("b", "a", "b", "<eos>", "a", "<eos>", "a"),
        "measured": {"hooked_equals_plain": 1e-6},
        "facts": {"task": "reverse"},
    }
    return Trace(**given | changes)


def test_labels_of_rows_and_columns_follow_the_site():
    trace = make()
    assert trace.sites == ("encoder", "decoder", "cross")
    assert (trace.queries("encoder"), trace.keys("encoder")) == (SOURCE, SOURCE)
    assert (trace.queries("decoder"), trace.keys("decoder")) == (TARGET, TARGET)
    assert (trace.queries("cross"), trace.keys("cross")) == (TARGET, SOURCE)
    assert trace.attention("cross").shape == (2, 5, 3, 4)


def test_masks_are_true_where_a_query_may_attend_and_name_their_reason():
    trace = make()
    assert trace.mask("decoder").tolist() == np.tril(np.ones((3, 3), bool)).tolist()
    assert trace.mask_reason("decoder")[0].tolist() == ["", "later position", "later position"]
    assert trace.mask_reason("cross")[:, 3].tolist() == ["padding"] * 3


def test_padding_wins_over_later_positions():
    codes = mask_codes(3, 4, causal=True, padded_keys=2)
    assert codes.tolist() == [
        [UNMASKED, LATER, PADDING, PADDING],
        [UNMASKED, UNMASKED, PADDING, PADDING],
        [UNMASKED, UNMASKED, PADDING, PADDING],
    ]


def test_masks_that_differ_between_heads_are_asked_for_by_head():
    closed = np.zeros((2, 5, 3, 4), np.uint8)
    closed[1, 2, 0, 0] = 3
    arrays = dict(make().arrays) | {"cross.closed": closed}
    trace = make(arrays=arrays)
    assert trace.mask_reason("cross", 1, 2)[0, 0] == "edited"
    assert trace.mask("cross", 0, 2).all()
    with pytest.raises(TraceError) as caught:
        trace.mask("cross")
    assert caught.value.key == "masks_differ"


def test_nobody_can_write_to_a_trace():
    trace = make()
    with pytest.raises(ValueError, match="read-only"):
        trace.attention("cross")[0, 0, 0, 0] = 1
    with pytest.raises(AttributeError):
        trace.text = "else"
    with pytest.raises(TypeError):
        trace.facts["task"] = "copy"


def test_an_array_the_caller_keeps_is_not_shared():
    arrays = {"cross.attention": softmax((1, 1, 3, 4), np.ones((3, 4), bool))}
    trace = Trace.from_arrays(SOURCE, TARGET, cross=arrays["cross.attention"])
    arrays["cross.attention"][:] = 0
    assert trace.attention("cross").any()


def test_steps_list_the_candidates_with_true_ranks():
    steps = make().steps()
    names = ["step", "rank", "token", "probability", "chosen", "forced", "id"]
    assert list(steps.columns) == names
    chosen = steps[steps.chosen]
    assert chosen.token.tolist() == ["b", "a", "<eos>"]
    assert chosen["rank"].tolist() == [1, 3, 1]
    assert chosen.forced.tolist() == [False, True, False]


def test_losses_are_the_surprise_at_each_chosen_token():
    np.testing.assert_allclose(make().losses, -np.log([0.5, 0.125, 0.75]), rtol=1e-6)


def test_table_labels_rows_with_queries_and_columns_with_keys():
    table = make().table("cross", 1, 4)
    assert list(table.index) == ["0 <bos>", "1 b", "2 a"]
    assert list(table.columns) == ["0 a", "1 b", "2 <eos>", "3 <pad>"]
    assert table.loc["1 b", "0 a"] == make().attention("cross")[1, 4, 1, 0]


def test_integrity_measures_what_is_there():
    integrity = make().integrity().set_index("check")
    assert integrity.ok.all()
    assert integrity.error["rows_sum_to_one"] < 1e-6
    assert integrity.error["closed_cells_are_zero"] == 0
    assert integrity.error["hooked_equals_plain"] == 1e-6
    assert "padding_changes_nothing" not in integrity.index


@pytest.mark.parametrize(
    ("cell", "value", "failed"),
    [
        ((0, 0, 0, 0), 0.9, {"rows_sum_to_one", "unchanged_since_capture"}),
        ((1, 4, 2, 3), 1e-6, {"closed_cells_are_zero", "unchanged_since_capture"}),
    ],
)
def test_integrity_notices_a_changed_cell(cell, value, failed):
    trace = make()
    weights = np.array(trace.attention("cross"))
    weights[cell] = value
    changed = make(arrays=dict(trace.arrays) | {"cross.attention": weights}, digest=trace.digest)
    integrity = changed.integrity()
    assert set(integrity.check[~integrity.ok]) == failed


def test_integrity_notices_exchanged_tokens():
    changed = make(source_tokens=("b", "a", "<eos>", "<pad>"), digest=make().digest)
    integrity = changed.integrity().set_index("check")
    assert not integrity.ok["unchanged_since_capture"]


def test_a_file_gives_back_the_same_trace(tmp_path):
    trace = make()
    trace.save(tmp_path / "x.trace")
    again = Trace.load(tmp_path / "x.trace")
    for name, array in trace.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], array)
        assert again.arrays[name].dtype == array.dtype
    for name in ("source_tokens", "target_tokens", "predicted_tokens", "text", "digest"):
        assert getattr(again, name) == getattr(trace, name)
    assert dict(again.facts) == {"task": "reverse"}
    assert again.integrity().ok.all()


def test_a_missing_file_is_named():
    with pytest.raises(FileError) as caught:
        Trace.load("nowhere/x.trace")
    assert caught.value.key == "unreadable_file"


def test_a_newer_format_is_refused():
    file = io.BytesIO()
    header = json.dumps({"version": 99}).encode()
    np.savez(file, header=np.frombuffer(header, np.uint8))
    with pytest.raises(TraceError) as caught:
        Trace.from_bytes(file.getvalue())
    assert caught.value.key == "trace_version"


def test_pickled_arrays_are_refused():
    file = io.BytesIO()
    np.savez(file, header=np.array([{"version": 1}], dtype=object))
    with pytest.raises(TraceError):
        Trace.from_bytes(file.getvalue())


def test_a_bomb_is_refused_before_it_unfolds():
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("cross.attention.npy", "w") as member,
    ):
        for _ in range(600):
            member.write(bytes(2**20))
    assert len(file.getvalue()) < 2**20
    with pytest.raises(TraceError) as caught:
        Trace.from_bytes(file.getvalue())
    assert caught.value.key == "trace_too_large"


FORGERIES = {
    "a check that was not measured": {"measured": {"rows_sum_to_one": 0.0}},
    "an error that is a word": {"measured": {"hooked_equals_plain": "abc"}},
    "an error that is missing": {"measured": {"hooked_equals_plain": None}},
    "an error that is no number": {"measured": {"hooked_equals_plain": float("nan")}},
    "a number as a token": {"target_tokens": [1, 2, 3]},
    "a text that is a number": {"text": 5},
    "a labyrinth of facts": {"facts": {"a": json.loads("[" * 90 + "]" * 90)}},
    "facts that are none": {"facts": "x"},
    "an unknown part": {"more": 1},
    "a part too few": {"text": ...},
}


def forge(**changes: object) -> bytes:
    trace = make()
    header = {
        "source_tokens": trace.source_tokens,
        "target_tokens": trace.target_tokens,
        "predicted_tokens": trace.predicted_tokens,
        "candidate_tokens": trace.candidate_tokens,
        "text": trace.text,
        "measured": dict(trace.measured),
        "facts": dict(trace.facts),
        "digest": trace.digest,
    } | {key: value for key, value in changes.items() if key not in trace.arrays}
    arrays = {name: changes.get(name, array) for name, array in trace.arrays.items()}
    kept = {name: array for name, array in arrays.items() if array is not ...}
    return pack(kept, {key: value for key, value in header.items() if value is not ...})


def test_an_honest_forgery_is_read():
    assert Trace.from_bytes(forge()).integrity().ok.all()


@pytest.mark.parametrize("how", FORGERIES)
def test_a_forged_header_is_refused_in_one_sentence(how):
    with pytest.raises(TraceError):
        Trace.from_bytes(forge(**FORGERIES[how]))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("gold", np.full((3, 4), "x")),
        ("gold", np.zeros((3, 4), np.float32)),
        ("steps.rank", np.array(list("1123121"))),
        ("steps.step", np.array([1, 1, 2, 2, 2, 3, 1.5])),
        ("steps.probability", np.full(7, np.nan, np.float32)),
        ("steps.probability", np.full(7, 2.0, np.float32)),
        ("steps.chosen", np.zeros(7, bool)),
        ("steps.forced", ...),
        ("cross.attention", np.full((2, 5, 3, 4), -0.25, np.float32)),
        ("cross.attention", np.full((2, 5, 3, 4), 0.25, np.float64)),
        ("cross.closed", np.full((3, 4), 9, np.uint8)),
        ("cross.closed", ...),
    ],
)
def test_a_forged_array_is_refused_in_one_sentence(name, array):
    with pytest.raises(TraceError):
        make(arrays={k: v for k, v in {**make().arrays, name: array}.items() if v is not ...})


def test_half_a_letter_as_a_token_is_refused():
    with pytest.raises(TraceError):
        make(source_tokens=("a", "b", "\ud800", "<pad>"))


def test_a_trace_of_nothing_is_refused():
    with pytest.raises(TraceError, match="no attention"):
        Trace.from_arrays(("a",))


def test_a_limit_is_looked_at_before_a_file_unfolds():
    data = make().to_bytes()
    assert Trace.from_bytes(data, limit=10**6).text == "b a"
    with pytest.raises(TraceError) as caught:
        Trace.from_bytes(data, limit=1000)
    assert caught.value.key == "trace_too_large"


def test_two_hundred_mutations_of_a_file_end_in_a_trace_or_a_sentence():
    data = make().to_bytes()
    random = np.random.default_rng(7)
    refused = 0
    for _ in range(200):
        mutated = bytearray(data)
        for place in random.integers(0, len(data), random.integers(1, 8)):
            mutated[place] = random.integers(0, 256)
        cut = random.integers(0, len(data)) if random.random() < 0.3 else len(data)
        try:
            Trace.from_bytes(bytes(mutated[:cut])).integrity()
        except TraceError:
            refused += 1
    assert refused > 100


def test_foreign_attention_needs_only_tokens_and_weights():
    weights = softmax((3, 2, 3, 3), np.tril(np.ones((3, 3), bool)))
    trace = Trace.from_arrays((), TARGET, decoder=weights)
    assert trace.sites == ("decoder",)
    assert trace.mask_reason("decoder")[0, 1] == "later position"
    assert trace.integrity().ok.all()
    assert trace.steps().empty
    assert np.isnan(trace.losses).all()


def test_one_array_a_layer_with_a_batch_axis_is_stacked():
    layers = [softmax((1, 2, 3, 4), np.ones((3, 4), bool), seed) for seed in range(5)]
    trace = Trace.from_arrays(SOURCE, TARGET, cross=layers)
    assert trace.attention("cross").shape == (5, 2, 3, 4)
    np.testing.assert_array_equal(trace.attention("cross")[3], layers[3][0])


def test_reasons_of_a_boolean_mask_are_inferred():
    mask = np.tril(np.ones((3, 3), bool))
    mask[:, 2] = False
    mask[2, 0] = False
    weights = softmax((1, 1, 3, 3), mask)
    reasons = Trace.from_arrays((), TARGET, decoder=weights, masks={"decoder": mask}).mask_reason(
        "decoder"
    )
    assert reasons.tolist() == [
        ["", "later position", "padding"],
        ["", "", "padding"],
        ["edited", "", "padding"],
    ]


def test_reasons_can_be_given_as_words():
    words = np.array([["", "", "", "padding"]] * 3)
    weights = softmax((1, 1, 3, 4), words == "")
    trace = Trace.from_arrays(SOURCE, TARGET, cross=weights, masks={"cross": words})
    np.testing.assert_array_equal(trace.mask_reason("cross"), words)


def test_tensors_with_gradients_and_in_half_precision_are_read():
    weights = torch.rand(1, 2, 3, 4).softmax(-1).requires_grad_()
    trace = Trace.from_arrays(SOURCE, TARGET, cross=(weights, weights))
    np.testing.assert_array_equal(trace.attention("cross")[1], weights[0].detach())
    assert trace.integrity().ok.all()
    for half in (torch.bfloat16, torch.float16):
        rounded = Trace.from_arrays(SOURCE, TARGET, cross=weights.detach().to(half)[None])
        assert rounded.integrity().ok.all()
    blurred = weights.detach()[None].numpy().copy()
    blurred[..., 0] += 0.003
    assert not Trace.from_arrays(SOURCE, TARGET, cross=blurred).integrity().ok.all()


def test_a_decoder_alone_and_an_encoder_alone_need_one_kind_of_token():
    weights = np.full((1, 1, 2, 2), 0.5, np.float32)
    assert Trace.from_arrays(target_tokens=(7, 8), decoder=weights).target_tokens == ("7", "8")
    assert Trace.from_arrays((1, 2), encoder=weights).sites == ("encoder",)


def test_masks_of_zeros_and_ones_with_leading_axes_are_read():
    mask = np.array([[1, 1, 1, 0]] * 3)[None, None]
    weights = softmax((1, 1, 3, 4), mask[0, 0] == 1)
    trace = Trace.from_arrays(SOURCE, TARGET, cross=weights, masks={"cross": torch.tensor(mask)})
    assert (trace.mask_reason("cross")[:, 3] == "padding").all()


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"cross": np.ones((1, 2, 1, 3, 4))}, "whole_batch"),
        ({"cross": []}, "uneven_layers"),
        ({"cross": [np.ones((1, 3, 4)), np.ones((2, 3, 4))]}, "uneven_layers"),
        ({"cross": "text"}, "no_numbers"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"enc": 1}}, "unknown_site"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.ones((3, 3))}}, "wrong_mask"),
        ({"cross": np.ones((1, 1, 3, 4)), "masks": {"cross": np.full((3, 4), 2)}}, "bad_mask"),
    ],
)
def test_each_misfit_of_foreign_arrays_has_its_own_sentence(given, key):
    with pytest.raises(TraceError) as caught:
        Trace.from_arrays(SOURCE, TARGET, **given)
    assert caught.value.key == key


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    for write in (make().save, make().to_html):
        with pytest.raises(FileError) as caught:
            write(tmp_path / "nowhere" / "x")
        assert caught.value.key == "unwritable_file"


@pytest.mark.parametrize(
    "weights",
    [
        np.ones((1, 1, 3, 3)),
        np.ones((1, 1, 4, 3)),
        np.ones((3, 4)),
        np.full((1, 1, 3, 4), np.nan),
        np.ones((0, 1, 3, 4)),
        "text",
        [np.ones((1, 3, 4)), np.ones((2, 3, 4))],
    ],
)
def test_weights_that_do_not_fit_the_tokens_are_refused(weights):
    with pytest.raises(TraceError):
        Trace.from_arrays(SOURCE, TARGET, cross=weights)


@pytest.mark.parametrize(
    ("kind", "site", "key"),
    [("attention", "elsewhere", "unknown_site"), ("scores", "cross", "not_captured")],
)
def test_what_was_not_captured_is_said(kind, site, key):
    with pytest.raises(TraceError) as caught:
        getattr(make(), kind)(site)
    assert caught.value.key == key
