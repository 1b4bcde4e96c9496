"""How often `trace` checks, and the batches of `iter_traces`."""

from contextlib import contextmanager

import numpy as np
import pytest

from explorer.core.errors import ConfigError, VocabularyError
from explorer.core.trace import Trace
from explorer.model.huggingface import prepared_text, traced_model
from explorer.model.huggingface.opening.loading import open_directory

TEXT = "5 17 8 41 9 23"
ALWAYS = {"rows_sum_to_one", "masked_cells_are_zero", "unchanged_since_capture"}


@pytest.fixture(autouse=True)
def as_if_first():
    """Here models keep their proofs."""


@pytest.fixture
def fresh(directory):
    """A model that has proved nothing yet, by family."""
    return lambda family: open_directory(directory(family))


@contextmanager
def passes(model):
    """A list with an entry for each pass of the model's body, with its number of sequences."""
    found = []
    stack = model.model.get_decoder() if model.kind != "encoder-only" else model.model.base_model
    hook = stack.register_forward_hook(lambda *_: found.append(1))
    yield found
    hook.remove()


def count(model, text=TEXT, **options):
    with passes(model) as found:
        model.trace(text, **options)
    return len(found)


def test_an_encoder_is_checked_once_for_each_kind_of_call(fresh):
    model = fresh("bert")
    assert [count(model, text) for text in (TEXT, TEXT, "7 8")] == [2, 1, 1]
    assert [count(model, capture="full") for _ in range(2)] == [2, 1]
    assert [count(model, ablate=["encoder.0.1"]) for _ in range(2)] == [2, 1]
    assert [count(model, ablate=["encoder.0.0"]) for _ in range(2)] == [2, 1]
    assert [count(model, pad_to=6) for _ in range(2)] == [1, 1]  # without padding after all
    assert [count(model, pad_to=9) for _ in range(2)] == [3, 1]
    assert [count(model, check="always") for _ in range(2)] == [2, 2]
    other = fresh("bert")
    assert [count(other, check="never") for _ in range(2)] == [1, 1]
    assert count(other) == 2


def test_a_decoder_with_known_tokens_runs_once(fresh):
    model = fresh("llama")
    steps = len(model.trace(TEXT, target="7 8", check="never").predicted_tokens) - 5
    assert steps == 3  # 7, 8 and the end
    assert [count(model, target="7 8") for _ in range(2)] == [steps + 2, 1]
    assert [count(model, max_new_tokens=1) for _ in range(2)] == [3, 1]
    assert [count(model, max_new_tokens=4) for _ in range(2)] == [4 + 2, 4 + 1]


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ("bert", {}),
        ("marian", {"max_new_tokens": 4}),
        ("marian", {"target": "7 8"}),
        ("llama", {"target": "7 8", "capture": "full"}),
        ("llama", {"max_new_tokens": 1, "pad_to": 8}),
        ("bloom", {"target": "7 8"}),
    ],
)
def test_what_is_not_measured_has_no_row_and_all_else_is_equal(fresh, family, options, tmp_path):
    model = fresh(family)
    first, second = (model.trace(TEXT, **options) for _ in range(2))
    always = model.trace(TEXT, check="always", **options)
    measured = {"hooked_equals_plain"}
    if family != "bloom":
        measured.add("equals_library")
    if family != "bert":
        measured.add("cached_equals_full")
    if "pad_to" in options:
        measured.add("padding_changes_nothing")
    assert set(first.integrity().check) == set(always.integrity().check) == ALWAYS | measured
    assert set(second.integrity().check) == ALWAYS
    assert first.integrity().ok.all()
    assert first.digest == second.digest != always.digest
    assert always.facts == {name: one for name, one in first.facts.items() if name != "check"}
    for name, array in always.arrays.items():
        np.testing.assert_array_equal(second.arrays[name], array, err_msg=name)
    first.save(tmp_path / "x.trace")
    assert Trace.load(tmp_path / "x.trace").integrity().ok.all()


def test_a_check_that_fails_proves_nothing(fresh, monkeypatch):
    model = fresh("bert")
    wrong = {"hooked_equals_plain": 1.0}
    monkeypatch.setattr(traced_model, "measured_errors", lambda *_: dict(wrong))
    for _ in range(2):
        assert not model.trace(TEXT).integrity().set_index("check").ok["hooked_equals_plain"]
    monkeypatch.undo()
    assert [count(model) for _ in range(2)] == [2, 1]


def test_an_unknown_check_is_refused(fresh):
    with pytest.raises(ConfigError) as caught:
        fresh("bert").trace(TEXT, check="sometimes")
    assert caught.value.key == "bad_check"


def texts(number):
    """So many texts of 3 to 5 tokens."""
    return [" ".join(str(5 + (7 * n + k) % 40) for k in range(3 + n % 3)) for n in range(number)]


@pytest.mark.parametrize("family", ["bert", "marian", "llama", "bloom", "gemma2"])
def test_traces_of_a_batch_are_those_of_one_text(fresh, family):
    model = fresh(family)
    given = texts(9)
    targets = None if family == "bert" else [" ".join("789"[: 1 + n % 2]) for n in range(9)]
    with passes(model) as found:
        traces = list(model.iter_traces(given, targets))
    lengths = {(len(one.source_tokens), len(one.target_tokens)) for one in traces}
    assert len(found) == len(lengths) + 1  # and the check of the first batch
    assert sum(1 / one.facts["batched"] for one in traces) == pytest.approx(len(lengths))
    for number, trace in enumerate(traces):
        options = {} if targets is None else {"target": targets[number]}
        alone = model.trace(given[number], **options)
        assert trace.source_tokens == alone.source_tokens
        assert trace.target_tokens == alone.target_tokens
        assert trace.predicted_tokens == alone.predicted_tokens
        assert (trace.text, trace.sites) == (alone.text, alone.sites)
        assert trace.facts == alone.facts | {"batched": trace.facts["batched"]}
        assert trace.arrays.keys() == alone.arrays.keys()
        for name, array in alone.arrays.items():
            if name.endswith((".attention", ".probability")):
                np.testing.assert_allclose(trace.arrays[name], array, atol=1e-6, err_msg=name)
            elif not name.startswith("steps."):  # candidates of equal probability may change places
                np.testing.assert_array_equal(trace.arrays[name], array, err_msg=name)
        assert trace.integrity().ok.all()
    checked = ["hooked_equals_plain" in one.measured for one in traces]
    assert sum(checked) == traces[0].facts["batched"] == checked.index(False) or any(checked)


def test_texts_are_read_as_their_traces_are_taken(fresh, monkeypatch):
    model = fresh("bert")
    monkeypatch.setattr(prepared_text, "MOST_BYTES", 2000)
    taken = []
    found = model.iter_traces(taken.append(text) or text for text in texts(30))
    assert next(found).facts["text"] == texts(30)[0]
    assert 0 < len(taken) < 30
    assert [one.facts["text"] for one in found] == texts(30)[1:]


def test_without_targets_a_decoder_takes_its_texts_one_by_one(fresh):
    model = fresh("marian")
    found = list(model.iter_traces(texts(3)))
    assert [one.digest for one in found] == [model.trace(text).digest for text in texts(3)]


@pytest.mark.parametrize(
    ("given", "targets", "key"),
    [("5 6", None, "not_texts"), (["5"], ["6", "7"], "target_each"), (["5"], [], "target_each")],
)
def test_wrong_lists_are_refused(fresh, given, targets, key):
    with pytest.raises(VocabularyError) as caught:
        list(fresh("marian").iter_traces(given, targets))
    assert caught.value.key == key
