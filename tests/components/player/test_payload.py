from dataclasses import replace

import numpy as np
import pytest

from explorer.components.player.payload import Offer, View, player_payload
from explorer.components.trace_questions import TRACE_QUESTIONS, Place
from explorer.core.i18n import section
from explorer.core.mask_reasons import PADDING, UNMASKED
from explorer.core.predictions import Prediction, PredictionKind
from explorer.core.trace import Trace
from explorer.core.words import content, merge
from tests.support.example_traces import example_trace, pieces_trace, random_trace
from tests.support.payloads import unpack_payload

HEADS = Offer("trace/x", ("head",))


def weights(trace: Trace, site: str) -> np.ndarray:
    """(layer, head, query, key) as the browser will see them."""
    header, arrays = unpack_payload(player_payload(trace))
    about = header["sites"][site]
    codes = arrays[f"{site}.attention"].astype(np.float64) / 65535 * about["scale"]
    if not about["packed"]:
        return codes.reshape(about["shape"])
    whole = np.zeros(about["shape"])
    whole[:, :, trace.mask(site)] = codes.reshape(*about["shape"][:2], -1)
    return whole


@pytest.mark.parametrize("site", ["encoder", "decoder", "cross"])
def test_weights_are_exact_to_the_fifth_digit(site):
    trace = example_trace()
    assert np.abs(weights(trace, site) - trace.attention(site)).max() <= 7.7e-6


def test_weights_above_one_are_scaled_not_cut():
    cross = np.array([[[[0.5, 3.5, 0.0]]]], dtype=np.float32)
    trace = Trace.from_arrays(["a", "b", "c"], ["<bos>"], cross=cross)
    assert np.abs(weights(trace, "cross") - cross).max() <= 3.5 * 7.7e-6


def test_a_weight_at_a_masked_cell_is_sent():
    trace = example_trace()
    arrays = dict(trace.arrays)
    tampered = arrays["cross.attention"].copy()
    assert trace.closed("cross")[0, -1] == PADDING
    tampered[0, 0, 0, -1] = 0.25
    arrays["cross.attention"] = tampered
    forged = replace(trace, arrays=arrays)
    assert weights(forged, "cross")[0, 0, 0, -1] == pytest.approx(0.25, abs=1e-5)


def test_masks_that_differ_by_head_are_sent():
    mask = np.ones((2, 3, 4, 4), dtype=bool)
    mask[1, 2, 0, 3] = False
    encoder = np.full((2, 3, 4, 4), 0.25, dtype=np.float32)
    trace = Trace.from_arrays(list("abcd"), encoder=encoder, masks={"encoder": mask})
    _, arrays = unpack_payload(player_payload(trace))
    codes = arrays["encoder.closed"].reshape(mask.shape)
    assert np.array_equal(codes == UNMASKED, mask)


def test_gold_and_candidates_are_sent():
    trace = example_trace()
    header, arrays = unpack_payload(player_payload(trace))
    bits = np.unpackbits(arrays["gold"], bitorder="little")[: trace.gold.size]
    assert np.array_equal(bits.reshape(trace.gold.shape), trace.gold)
    steps = trace.steps()
    assert [header["labels"][place] for place in arrays["steps.label"]] == list(steps["token"])
    for column in ("step", "rank", "id", "chosen", "forced"):
        assert np.array_equal(arrays[f"steps.{column}"], steps[column])
    assert np.array_equal(arrays["steps.probability"], steps["probability"].astype(np.float32))


def test_six_layers_of_eight_heads_stay_small():
    trace = random_trace(64, 64, 6, 8)
    assert len(player_payload(trace)) <= 1_200_000


def test_the_trace_in_words_is_sent_without_sentences_and_with_its_steps_in_pieces():
    trace = pieces_trace()
    view = View(original=("▁L", "a", "▁ch", "at", "te", "<eos>"))
    header, arrays = unpack_payload(player_payload(trace, view=view))
    inner, _ = unpack_payload(arrays["words"].tobytes())
    merged = merge(trace)
    assert tuple(inner["target"]) == merged.target_tokens
    assert tuple(inner["predicted"]) == merged.predicted_tokens
    assert inner["sites"]["cross"]["shape"] == list(merged.attention("cross").shape)
    assert inner["rows"] == [0, 2, 4]  # the last piece of each word
    assert inner["columns"] == [0, 2, 3, 4, 5]
    assert inner["original"] == ["La", "chatte", "<eos>"]
    assert not {"strings", "view", "integrity", "words"} & (set(inner) | set(inner["arrays"]))
    source, outputs = content(trace)
    assert header["content"] == {"source": source.tolist(), "outputs": outputs.tolist()}
    assert inner["content"]["outputs"] == [True, True, False]


def test_a_trace_whose_words_are_its_labels_is_sent_once():
    header, arrays = unpack_payload(player_payload(example_trace()))
    assert "words" not in arrays
    assert not header["marked"]  # so the choice of words is not offered
    weights = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    header, arrays = unpack_payload(
        player_payload(Trace.from_arrays(["▁a", "▁b"], encoder=weights))
    )
    words = unpack_payload(arrays["words"].tobytes())[0]
    assert words["source"] == ["a", "b"]  # single pieces, but without their marks
    assert header["marked"]


def test_the_header_has_tokens_integrity_sentences_and_view():
    view = View(site="decoder", layer=1, head=2, step=3, what_if=True, forced=((2, "3"),))
    header, _ = unpack_payload(player_payload(example_trace(), language="zh", view=view))
    assert header["source"][-1] == "<pad>"
    assert {row["check"] for row in header["integrity"]} >= {"rows_sum_to_one"}
    assert header["strings"] == {**section("player", "zh"), **section("glossary", "zh")}
    assert header["view"]["forced"] == [[2, "3"]]
    assert header["view"]["what_if"] is True


def test_facts_that_json_cannot_express_become_null():
    trace = example_trace()
    odd = replace(trace, facts={"loss": float("inf"), "nested": [float("nan")]})
    header, _ = unpack_payload(player_payload(odd))
    assert header["facts"] == {"loss": None, "nested": [None]}


def test_the_sentences_can_be_left_out():
    trace = example_trace()
    header, arrays = unpack_payload(player_payload(trace, language=None))
    whole, expected = unpack_payload(player_payload(trace))
    assert header == whole | {"strings": {}}
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }


def test_predictions_of_a_text_are_all_sent_and_of_a_token_the_most_probable():
    labels = tuple(f"tag {number}" for number in range(12))
    columns = {
        "start": np.repeat([1, 2], 6),
        "stop": np.repeat([2, 3], 6),
        "rank": np.tile(np.arange(1, 7), 2),
        "value": np.zeros(12, np.float32),
        "probability": np.full(12, 0.125, np.float32),
        "chosen": np.tile(np.arange(6) == 0, 2),
    }
    plain = Trace.from_arrays("abcd", encoder=np.full((1, 1, 4, 4), 0.25, np.float32))

    def sent(kind, **changed):
        found = Prediction(PredictionKind(kind), labels, columns | changed)
        arrays = {**plain.arrays, **found.arrays}
        header, _ = unpack_payload(
            player_payload(replace(plain, arrays=arrays, facts=found.facts, digest=""))
        )
        assert header["predictions"]["kind"] == kind
        return header["predictions"]["rows"]

    assert [row["rank"] for row in sent("tags")] == [1, 2, 3, 1, 2, 3]
    assert [row["label"] for row in sent("labels")] == list(labels)
    unsure = np.full(12, np.nan, np.float32)
    assert {row["probability"] for row in sent("score", probability=unsure)} == {None}
    assert "predictions" not in unpack_payload(player_payload(plain))[0]


def test_an_encoder_alone_is_sent_with_its_masks_and_a_decoder_alone_with_its_prompt():
    masked = {
        "steps.step": np.array([2]),
        "steps.rank": np.array([1]),
        "steps.id": np.array([5]),
        "steps.probability": np.array([0.5], np.float32),
        "steps.chosen": np.array([True]),
        "steps.forced": np.array([False]),
    }
    encoder = Trace.from_arrays(list("abcd"), encoder=np.full((1, 1, 4, 4), 0.25))
    alone = replace(encoder, arrays=dict(encoder.arrays) | masked, candidate_tokens=("x",))
    header, arrays = unpack_payload(player_payload(alone))
    assert list(header["sites"]) == ["encoder"]
    assert arrays["steps.step"].tolist() == [2]
    assert header["labels"] == ["x"]
    weights = np.tril(np.ones((1, 1, 3, 3))) / [[1], [2], [3]]
    decoder = Trace.from_arrays((), ["▁a", "b", "▁c"], decoder=weights)
    for known, prompt in ((2, 2), (9, 3), (-1, 0), ("2", 0), (None, 0)):
        header, _ = unpack_payload(player_payload(replace(decoder, facts={"prompt": known})))
        assert list(header["sites"]) == ["decoder"]
        assert header["prompt"] == prompt


@pytest.mark.parametrize(("pieces", "words"), [(1, 1), (2, 1), (3, 2)])
def test_the_words_of_a_prompt_begin_in_it(pieces, words):
    weights = np.tril(np.ones((1, 1, 3, 3))) / [[1], [2], [3]]
    trace = Trace.from_arrays((), ["▁a", "b", "▁c"], decoder=weights)
    _, arrays = unpack_payload(player_payload(replace(trace, facts={"prompt": pieces})))
    merged, _ = unpack_payload(arrays["words"].tobytes())
    assert merged["prompt"] == words


def test_masks_that_differ_by_layer_are_sent_once_a_layer():
    masks = [np.tril(np.ones((4, 4), bool)), np.eye(4, dtype=bool)]
    weights = np.stack([mask / mask.sum(-1, keepdims=True) for mask in masks])[:, None]
    weights = np.repeat(weights, 3, axis=1)
    trace = Trace.from_arrays((), "abcd", decoder=weights, masks={"decoder": masks})
    header, arrays = unpack_payload(player_payload(trace))
    assert header["reasons"][4] == "outside the window"
    assert (arrays["decoder.closed"].reshape(2, 4, 4) == UNMASKED).tolist() == np.stack(
        masks
    ).tolist()


def test_removed_heads_are_named_with_their_replacement():
    facts = {"interventions": ["ablate cross.1.* mean", "keep encoder.0.0"]}
    header, _ = unpack_payload(player_payload(replace(example_trace(), facts=facts, digest="")))
    removed = {site: about["removed"] for site, about in header["sites"].items()}
    assert removed["cross"] == [[1, head, "mean"] for head in range(4)]
    assert len(removed["encoder"]) == 7
    assert removed["decoder"] == []


def test_a_trace_of_more_than_four_megabytes_of_weights_is_sent_without_them():
    trace = random_trace(160, 160, 4, 8)
    data = player_payload(trace, offer=HEADS)
    assert len(data) < 1_500_000 < len(player_payload(trace))
    header, arrays = unpack_payload(data)
    assert header["resources"] == {"address": "trace/x", "names": ["head"], "methods": []}
    assert not any(name.endswith(".attention") for name in arrays)
    rows, columns = header["sites"]["cross"]["picture"]
    assert arrays["cross.pictures"].size == 4 * 8 * rows * columns
    best = np.unravel_index(np.argmax(header["sites"]["cross"]["gold"]), (4, 8))
    view = header["view"]
    assert (view["site"], view["layer"], view["head"]) == ("cross", *best)


def test_a_large_trace_has_all_else_that_a_small_one_has():
    trace, view = pieces_trace(), View(site="decoder", layer=0, head=1)
    whole, expected = unpack_payload(player_payload(trace, view=view))
    header, arrays = unpack_payload(player_payload(trace, view=view, offer=HEADS))
    assert header["view"] == whole["view"]
    inner, merged = (unpack_payload(one["words"].tobytes()) for one in (arrays, expected))
    for (one, own), (other, all_arrays) in [((header, arrays), (whole, expected)), (inner, merged)]:
        for name in ("source", "target", "predicted", "content", "labels", "facts"):
            assert one[name] == other[name]
        for name, array in all_arrays.items():
            if name.startswith("steps") or name == "gold":
                np.testing.assert_array_equal(own[name], array)
        for site, sizes in other["sites"].items():
            for name in ("shape", "scale", "numbers", "removed"):
                assert one["sites"][site][name] == sizes[name]
    assert (inner[0]["rows"], inner[0]["columns"]) == (merged[0]["rows"], merged[0]["columns"])


def test_where_pictures_can_be_asked_for_words_come_without_theirs():
    trace = pieces_trace()
    asking = Offer("trace/x", ("head", "pictures"))
    (header, arrays), (_, other) = (
        unpack_payload(player_payload(trace, offer=offer)) for offer in (asking, HEADS)
    )
    assert "cross.pictures" in arrays
    words, inner = unpack_payload(arrays["words"].tobytes())
    whole, all_arrays = unpack_payload(other["words"].tobytes())
    assert not any("pictures" in name for name in inner)
    assert set(all_arrays) - set(inner) == {
        f"{site}.pictures{part}" for site in trace.sites for part in ("", ".closed")
    }
    for site, about in whole["sites"].items():
        del about["picture"]
        assert words["sites"][site] == about
    assert header["sites"]["cross"]["picture"] == [5, 6]


def test_where_checks_can_be_asked_for_a_trace_comes_before_them():
    trace = replace(pieces_trace(), digest="of another trace")
    header, _ = unpack_payload(player_payload(trace, offer=Offer("trace/x", ("head", "integrity"))))
    assert header["integrity"] is None
    whole, _ = unpack_payload(player_payload(trace, offer=HEADS))
    asked = TRACE_QUESTIONS["integrity"].payload(trace, Place(), None)
    assert unpack_payload(asked)[0]["integrity"] == whole["integrity"]
    assert not all(check["ok"] for check in whole["integrity"])
