import pytest

from explorer.core import trace_size
from explorer.core.errors import ConfigError, TraceSizeError
from explorer.core.trace_size import (
    SHARED_TRACE,
    LayerChoice,
    SiteSize,
    largest_trace,
    layer_facts,
    share_memory,
)

MARIAN = {  # three layers of two heads each, five source tokens, four target tokens
    "encoder": SiteSize(range(3), 2, 5, 5),
    "decoder": SiteSize(range(3), 2, 4, 4),
    "cross": SiteSize(range(3), 2, 4, 5),
}
LAYER = 4 * 2 * (25 + 16 + 20)
HYBRID = {"decoder": SiteSize((3, 7, 11), 2, 4, 4)}


def places(layers=None, sites=None, sizes=MARIAN):
    return LayerChoice.of(layers, sites).within(sizes)


def test_a_layer_takes_four_bytes_a_weight_and_full_capture_what_is_inside_too():
    assert SiteSize(range(12), 12, 512, 512).layer_bytes * 12 == 150_994_944
    full = SiteSize(range(1), 2, 3, 5, width=7)
    weights, scores = 3 * 5, 3 * 5
    queries, keys, values, outputs = 3 * 7, 5 * 7, 5 * 7, 3 * 7
    heads = 2 * (weights + scores + queries + keys + values + outputs)
    assert full.layer_bytes == 4 * heads
    assert SiteSize(range(1), 2, 3, 5, 7, beside=11).layer_bytes == 4 * (heads + 3 * 11)


def test_layers_are_chosen_by_their_numbers_and_sites_by_name():
    assert places() == dict.fromkeys(MARIAN, (0, 1, 2))
    assert places([2, 0, 2], ["cross"]) == {"cross": (0, 2)}
    assert places(number for number in [1]) == dict.fromkeys(MARIAN, (1,))
    assert places([7, 3], sizes=HYBRID) == {"decoder": (0, 1)}
    shallow = MARIAN | {"encoder": SiteSize(range(1), 2, 5, 5)}
    assert places([2], sizes=shallow) == {"decoder": (2,), "cross": (2,)}


def test_facts_tell_the_numbers_and_how_many_layers_there_are():
    assert layer_facts(MARIAN, places()) == {}
    assert layer_facts(HYBRID, places(sizes=HYBRID)) == {"layer_numbers": {"decoder": [3, 7, 11]}}
    assert layer_facts(HYBRID, places([7], sizes=HYBRID)) == {
        "layer_numbers": {"decoder": [7]},
        "model_layers": {"decoder": 3},
        "captured_layers": {"decoder": [1]},
    }
    assert layer_facts(MARIAN, places([0], ["cross"])) == {
        "layer_numbers": {},  # not those that the facts of the model have
        "model_layers": {"encoder": 3, "decoder": 3, "cross": 3},
        "captured_layers": {"cross": [0]},
    }


def test_logits_take_four_bytes_each():
    most = trace_size.largest_logits() // 4000
    trace_size.refuse_logits(most, 1000)
    with pytest.raises(TraceSizeError) as caught:
        trace_size.refuse_logits(most + 1, 1000)
    assert caught.value.facts["fits"] == most
    needed, limit = (int(caught.value.facts[name].replace(",", "")) for name in ("needed", "limit"))
    assert needed > limit


def test_as_many_of_the_first_layers_as_fit(monkeypatch):
    for limit, count in [(3 * LAYER, 3), (3 * LAYER - 1, 2), (LAYER, 1)]:
        monkeypatch.setattr(trace_size, "largest_trace", lambda limit=limit: limit)
        assert places("fit") == dict.fromkeys(MARIAN, tuple(range(count)))
    assert places("fit", ["decoder"]) == {"decoder": (0, 1, 2)}


@pytest.mark.parametrize(("memory", "most"), [(2, 0.5), (4, 0.5), (24, 3)])
def test_a_trace_takes_an_eighth_of_the_memory_unless_that_is_shared(memory, most, monkeypatch):
    monkeypatch.setattr(trace_size, "all_memory", lambda: memory * 2**30)
    assert largest_trace() == most * 2**30
    monkeypatch.setattr(trace_size, "_shared", False)
    share_memory()
    assert largest_trace() == SHARED_TRACE


def test_too_much_attention_is_refused_with_what_fits(monkeypatch):
    monkeypatch.setattr(trace_size, "all_memory", lambda: 3 * 2**30)
    large = {"decoder": SiteSize(range(24), 16, 2048, 2048)}
    with pytest.raises(TraceSizeError) as caught:
        places(sizes=large)
    assert "6,144 MB" in str(caught.value)
    assert "512 MB" in str(caught.value)
    assert "24 layers the first 2 fit" in str(caught.value)
    assert places("fit", sizes=large) == {"decoder": (0, 1)}
    assert places([4, 9], sizes=large) == {"decoder": (4, 9)}
    assert 2 * large["decoder"].layer_bytes == SHARED_TRACE
    huge = {"decoder": SiteSize(range(24), 32, 4096, 4096)}
    for layers in (None, "fit", [3]):
        with pytest.raises(TraceSizeError, match="one layer of this text takes 2,048 MB"):
            places(layers, sizes=huge)


@pytest.mark.parametrize(
    ("layers", "sites", "key"),
    [
        ("all", None, "bad_layers"),
        ([], None, "bad_layers"),
        ([True], None, "bad_layers"),
        (["0"], None, "bad_layers"),
        (3, None, "bad_layers"),
        (None, "cross", "bad_sites"),
        (None, [], "bad_sites"),
        ([3], None, "unknown_layer"),
        ([-1], None, "unknown_layer"),
        (None, ["middle"], "unknown_path"),
    ],
)
def test_other_choices_are_refused(layers, sites, key):
    with pytest.raises(ConfigError) as caught:
        places(layers, sites)
    assert caught.value.key == key
