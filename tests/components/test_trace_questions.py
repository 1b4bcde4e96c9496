import numpy as np
import pytest

from explorer.components.inside.payload import head_vectors, omission, token_path
from explorer.components.player.weights import MEAN, head_payload, scale_of
from explorer.components.trace_questions import TRACE_QUESTIONS, Place, methods_offered, offered
from explorer.core.errors import ConfigError, TraceError
from explorer.core.look import SHOWN_MAPS
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.verbs import OMISSIONS
from explorer.heads.contributions.contributions import contributions
from explorer.heads.contributions.logit_attribution import logit_attribution
from explorer.heads.contributions.score_parts import score_parts
from explorer.model.huggingface.opening.wrapping import wrapped
from tests.support.asked_models import AskedExplorable
from tests.support.example_traces import example_trace, pieces_trace
from tests.support.huggingface_families import tiny_model
from tests.support.payloads import unpack_payload

TEXT = "1 2 3"
LARGE = ("head", "pictures", "integrity")
OF_WHOLE = ("contributions", "attribution", "score")


@pytest.fixture
def model(explorable) -> AskedExplorable:
    return AskedExplorable(explorable, TEXT)


@pytest.fixture
def trace(explorable) -> Trace:
    return explorable.trace(TEXT)


def names(trace: Trace, model) -> tuple[str, ...]:
    return tuple(one.name for one in offered(trace, model))


def asked(trace: Trace, model: AskedExplorable | None, address: str) -> bytes:
    """The answer at an address, as a browser asks for it."""
    name, _, text = address.partition("/")
    place = TRACE_QUESTIONS[name].place(text, trace)
    assert TRACE_QUESTIONS[name].address(place) == address
    return TRACE_QUESTIONS[name].answer(trace, model, place)


def test_what_is_offered_follows_from_the_model_and_the_size(trace, model, monkeypatch):
    inside = ("vectors", "path", "without")
    assert names(trace, model) == (*inside, *OF_WHOLE, "decisive")
    assert names(trace, None) == ()
    assert methods_offered(trace, model) == SHOWN_MAPS
    assert methods_offered(trace, None) == ()
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    assert names(trace, model) == (*LARGE, *inside, "decisive")
    assert methods_offered(trace, model) == ()
    assert names(trace, None) == LARGE


@pytest.mark.parametrize("name", ["gpt2", "marian", "bert", "bloom"])
def test_of_a_model_of_the_library_is_offered_what_python_answers(name):
    model = wrapped(tiny_model(name), None, name)
    trace = model.trace("5 17 8")
    found = names(trace, AskedExplorable(model, "5 17 8"))
    methods = methods_offered(trace, AskedExplorable(model, "5 17 8"))
    if name == "bloom":  # weights only
        assert (found, methods) == (("contributions",), ("rollout",))
        return
    of_tokens = () if name == "bert" else ("attribution", "early")
    assert found == ("vectors", "layer", "contributions", *of_tokens, "score")
    assert methods == tuple(one for one in SHOWN_MAPS if of_tokens or one != "leave_one_out")
    if name != "bert":
        changed = model.trace("5 17 8", ablate=[("decoder", 0, 1)])
        assert names(changed, AskedExplorable(model, "5 17 8")) == ("vectors", "layer", "early")
        assert methods_offered(changed, AskedExplorable(model, "5 17 8")) == ()


def test_what_is_of_the_model_as_it_is_is_not_asked_of_a_changed_one(explorable, model):
    changed = explorable.trace(TEXT, ablate=[("cross", 0, 1)])
    assert names(changed, model) == ("vectors", "path", "without", "decisive")


def test_what_is_not_offered_is_not_answered(trace, model):
    for address, own in [("head/pieces/cross/0/0", model), ("vectors/cross/0/0", None)]:
        with pytest.raises(TraceError, match="nothing called"):
            asked(trace, own, address)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("head/words/decoder/0/mean", Place("words", "decoder", 0, map=MEAN)),
        ("head/pieces/cross/0/1", Place("pieces", "cross", 0, map=1)),
        ("vectors/cross/0/1", Place(site="cross", layer=0, head=1)),
        ("path/decoder/0", Place(site="decoder", layer=0)),
        ("without/cross/0/1/mask", Place(site="cross", layer=0, head=1, part="mask")),
        ("contributions/rollout", Place(method="rollout")),
        ("attribution/", Place()),
    ],
)
def test_an_address_names_a_place(address, place):
    name, _, text = address.partition("/")
    assert TRACE_QUESTIONS[name].place(text, pieces_trace()) == place
    assert TRACE_QUESTIONS[name].address(place) == address


@pytest.mark.parametrize(
    "address",
    [
        "head/pieces/cross/2/0",
        "head/pieces/cross/0/4",
        "head/pieces/cross/-1/0",
        "head/pieces/cross/0/９",
        "head/pieces/cross/0/01",
        "head/pieces/cross/0/" + "9" * 5_000,
        "head/pieces/self/0/0",
        "head/parts/cross/0/0",
        "head/words/cross/0/0",  # all words are single pieces
        "head/pieces/../0/0",
        "head/pieces/cross/0",
        "head/pieces/cross/0/0/0",
        "vectors/cross/0/mean",
        "vectors/cross/0/-1",
        "path/cross",
        "without/cross/0/0/norm",
        "contributions/",
        "contributions/gradient",
        "attribution/cross",
        "pictures/pieces/cross/0-6.0-7",  # of 6 queries
        "pictures/pieces/cross/0-5.0-8",  # and 8 keys
        "pictures/pieces/cross/00-5.0-7",
        "pictures/pieces/cross/0-5",
    ],
)
def test_a_place_that_a_trace_does_not_have_is_refused(address):
    name, _, text = address.partition("/")
    with pytest.raises(TraceError, match="nothing called"):
        TRACE_QUESTIONS[name].place(text, example_trace())


def test_the_weights_of_a_head_are_those_of_its_map(trace, monkeypatch):
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", 0)
    for head, name in [(1, "1"), (MEAN, "mean")]:
        expected = head_payload(trace, "pieces", "cross", 1, head)
        assert asked(trace, None, f"head/pieces/cross/1/{name}") == expected


def test_what_is_inside_a_head_is_that_of_its_layer(trace, model):
    for site, layer, head in [("encoder", 0, 2), ("decoder", 1, 0), ("cross", 1, 2)]:
        captured = model.layer(site, layer)
        found = asked(trace, model, f"vectors/{site}/{layer}/{head}")
        assert found == head_vectors(captured, site, 0, head)
        assert asked(trace, model, f"path/{site}/{layer}") == token_path(captured, site)
    for part in OMISSIONS:
        found = asked(trace, model, f"without/decoder/1/2/{part}")
        assert found == omission(model.layer("decoder", 1, (part,)), "decoder", 2)


def test_contributions_are_those_of_python(trace, model, explorable):
    for method in ("alti", "leave_one_out"):
        header, arrays = unpack_payload(asked(trace, model, f"contributions/{method}"))
        expected = contributions(explorable, TEXT, method).source_share
        np.testing.assert_allclose(arrays["source_share"], expected, atol=1e-4)
        assert len(header["agreement"]) == (5 if method == "leave_one_out" else 0)


@pytest.mark.parametrize("name", ["gpt2", "marian", "bert"])
def test_of_the_library_the_answers_are_those_of_python(name):
    model = wrapped(tiny_model(name), None, name)
    trace = model.trace("5 17 8")
    asks = AskedExplorable(model, "5 17 8")
    _, arrays = unpack_payload(asked(trace, asks, "contributions/alti_plus"))
    expected = contributions(model, "5 17 8").matrix
    read = len(trace.source_tokens)
    for site, columns in (("cross", slice(0, read)), ("decoder", slice(read, None))):
        if site in trace.sites:
            last = arrays[site].reshape(trace.attention(site)[:, 0].shape)[-1]
            shown = last / (65535 / scale_of(trace.attention(site)))
            np.testing.assert_allclose(shown, expected[:, columns], atol=1e-4)
    if name == "bert":
        assert "source_share" not in arrays
        return
    header, arrays = unpack_payload(asked(trace, asks, "attribution/"))
    found = logit_attribution(model, "5 17 8")
    assert header["runner_up"] == list(found.runner_up)
    np.testing.assert_allclose(arrays["difference"], found.difference, atol=1e-5)
    parts = found.parts[found.parts.site == "decoder"].value
    np.testing.assert_allclose(arrays["decoder"].ravel(), parts, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "bart", "t5", "mbart"])
def test_the_parts_on_screen_add_up_to_the_difference(name):
    model = wrapped(tiny_model(name), None, name)
    trace = model.trace("5 17 8", max_new_tokens=4)
    _, arrays = unpack_payload(asked(trace, AskedExplorable(model, "5 17 8"), "attribution/"))
    difference = arrays.pop("difference")
    total = sum(part.reshape(len(difference), -1).sum(1) for part in arrays.values())
    np.testing.assert_allclose(total, difference, atol=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "marian", "bert", "t5"])
def test_of_the_library_the_parts_of_a_score_are_those_of_python(name):
    model = wrapped(tiny_model(name), None, name)
    trace = model.trace("5 17 8")
    for site in trace.sites:
        answer = asked(trace, AskedExplorable(model, "5 17 8"), f"score/{site}/1/2")
        header, arrays = unpack_payload(answer)
        sides = (header["query_parts"], header["key_parts"])
        queries, keys = (
            arrays[kind].reshape(len(parts), -1, header["width"])
            for kind, parts in zip(("queries", "keys"), sides, strict=True)
        )
        expected = score_parts(model, "5 17 8", site, 1, 2, 2, 1)
        products = queries[:, 2] @ keys[:, 1].T * header["scale"]
        found = [*products.ravel()]
        if "distance" in arrays:
            found.append(arrays["distance"].reshape(trace.attention(site).shape[2:])[2, 1])
        np.testing.assert_allclose(found, expected.parts.value, atol=1e-4)


@pytest.mark.parametrize("options", [{}, {"pad_to": 9}, {"ablate": [("decoder", 0, 1)]}])
@pytest.mark.parametrize("name", ["gpt2", "marian"])
def test_of_the_library_predictions_after_each_layer_are_those_of_python(name, options):
    model = wrapped(tiny_model(name), None, name)
    full = model.trace("5 17 8", capture="full", max_new_tokens=4, **options)
    trace = model.trace("5 17 8", max_new_tokens=4, **options)
    header, arrays = unpack_payload(asked(trace, AskedExplorable(model, "5 17 8"), "early/"))
    assert header["early"] == full.facts["early_tokens"]
    assert header["counts"] == {"queries": len(trace.target_tokens)}
    expected = full.arrays["early.probability"]
    np.testing.assert_allclose(arrays["early"].reshape(expected.shape), expected, atol=1e-6)


@pytest.mark.parametrize("pad", [0, 4])
@pytest.mark.parametrize(
    ("name", "site"), [("gpt2", "decoder"), ("marian", "cross"), ("t5", "encoder")]
)
def test_of_the_library_a_token_goes_through_a_layer_to_the_probabilities_of_its_step(
    name, site, pad
):
    model = wrapped(tiny_model(name), None, name)
    read = 3 if name == "gpt2" else len(model.trace("5 17 8").source_tokens)
    trace = model.trace("5 17 8", max_new_tokens=4, pad_to=read + pad)
    header, arrays = unpack_payload(
        asked(trace, AskedExplorable(model, "5 17 8"), f"layer/{site}/1")
    )
    assert header["config"]["heads"] == model.anatomy.heads(site)
    assert header["config"]["encoder_layers"] == model.anatomy.layers("encoder")
    queries, keys = trace.attention(site).shape[2:]
    assert header["counts"] == {"queries": queries, "keys": keys}
    rows = {name: array.reshape(queries, -1) for name, array in arrays.items()}
    if header["config"]["norm"] == "pre":
        added = rows["input"] + rows["projected"]
        np.testing.assert_allclose(rows["output"], added, atol=1e-4)
    if site == "encoder":
        assert header["candidates"] == []
        return
    steps = trace.steps()
    for row, labels in enumerate(header["candidates"]):
        own = steps[(steps.step == row + 1) & (steps["rank"] <= len(labels))]
        assert labels == own.token.tolist()
        if site == "decoder" and row < pad:
            continue  # padding, whose row reads as many keys as a pass has
        shares = np.exp(rows["logits"][row] - rows["sums"][row])
        np.testing.assert_allclose(shares, own.probability, atol=1e-5)


def test_what_a_model_does_not_allow_is_refused_in_the_sentence_of_python():
    model = wrapped(tiny_model("gemma2"), None, "gemma2")
    trace = model.trace("5 17 8")
    asks = AskedExplorable(model, "5 17 8")
    for address in ("contributions/alti", "attribution/", "early/", "layer/decoder/0"):
        with pytest.raises(ConfigError, match="layers of the family “gemma2” do not each add"):
            asked(trace, asks, address)
    assert asked(trace, asks, "contributions/rollout")
    header, _ = unpack_payload(asked(trace, asks, "contributions/leave_one_out"))
    assert {name for name, _ in header["agreement"]} == {"rollout", "attention"}
    normed = wrapped(tiny_model("qwen3"), None, "qwen3")
    with pytest.raises(ConfigError, match=r"“qwen3” changes queries or keys .* as a norm"):
        asked(normed.trace("5 17"), AskedExplorable(normed, "5 17"), "score/decoder/0/0")


def test_the_parts_of_heads_are_those_of_python(trace, model, explorable):
    header, arrays = unpack_payload(asked(trace, model, "attribution/"))
    expected = logit_attribution(explorable, TEXT)
    assert header["runner_up"] == list(expected.runner_up)
    np.testing.assert_allclose(arrays["difference"], expected.difference, atol=1e-5)
    cross = expected.parts[expected.parts.site == "cross"].value
    np.testing.assert_allclose(arrays["cross"], cross, atol=1e-5)


@pytest.mark.parametrize(
    "head", [Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 1, 2)]
)
def test_the_scores_of_a_head_are_split_as_in_python(trace, model, explorable, head):
    address = f"score/{head.site}/{head.layer}/{head.head}"
    header, arrays = unpack_payload(asked(trace, model, address))
    names, width = (header["query_parts"], header["key_parts"]), header["width"]
    queries, keys = (
        arrays[kind].reshape(len(parts), -1, width)
        for kind, parts in zip(("queries", "keys"), names, strict=True)
    )
    expected = score_parts(explorable, TEXT, *head, 2, 1).table
    assert (expected.index.tolist(), expected.columns.tolist()) == names
    found = queries[:, 2] @ keys[:, 1].T * header["scale"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def near(name: str, trace: Trace, head: Head, opened: bool = True) -> list[list[str]]:
    """The addresses that a saved page takes, those of use together beside each other."""
    question = TRACE_QUESTIONS[name]
    assert question.near is not None
    found = question.near(trace, head, opened)
    return [[question.address(place) for place in places] for places in found]


def test_a_page_takes_first_what_is_near(trace):
    head = Head("cross", 1, 2)
    vectors = [f"vectors/cross/1/{other}" for other in (2, 0, 1)]
    assert near("vectors", trace, head) == [[one] for one in vectors]
    assert near("path", trace, head) == [["path/cross/1"], ["path/cross/0"]]
    without = [f"without/cross/1/2/{part}" for part in OMISSIONS]
    assert near("without", trace, head) == [[one] for one in without]
    heads = [one for (one,) in near("head", trace, head)]
    assert heads[0] == "head/pieces/cross/1/2"
    assert heads[1:5] == [f"head/pieces/cross/1/{other}" for other in (0, 1, 2, "mean")]
    assert set(heads) == {
        f"head/pieces/{site}/{layer}/{other}"
        for site in trace.sites
        for layer in range(len(trace.attention(site)))
        for other in (0, 1, 2, "mean")
    }


def test_a_closed_panel_and_an_encoder_take_no_further_runs(trace):
    assert near("without", trace, Head("encoder", 0, 1), opened=False) == []
    assert near("path", trace, Head("encoder", 0, 1)) == [["path/encoder/0"]]


def test_pieces_and_words_of_a_head_are_of_use_together():
    first = near("head", pieces_trace(), Head("cross", 0, 1))[0]
    assert first == ["head/pieces/cross/0/1", "head/words/cross/0/1"]
