"""Tokens drawn at random, with a seed."""

import json
from collections import Counter
from pathlib import Path

import pytest
import torch

from explorer.core.errors import ConfigError, InterventionError
from explorer.core.interventions import Interventions
from explorer.core.verbs import Drawing
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.model.drawing import draw, random_share

EXAMPLES = json.loads(
    (Path(__file__).parents[1] / "support" / "drawing_examples.json").read_text("utf-8")
)
LOGITS = torch.tensor([2.0, 0.5, -1.0, 1.0])


@pytest.mark.parametrize("example", EXAMPLES["shares"])
def test_shares_are_those_of_the_browser(example):
    assert random_share(example["seed"], example["step"]) == example["share"]


@pytest.mark.parametrize("example", EXAMPLES["drawn"])
def test_what_is_drawn_is_what_the_browser_draws(example):
    drawing = Drawing(**{name: example[name] for name in Drawing._fields if name in example})
    drawn = [draw(drawing, torch.tensor(example["logits"]), step) for step in range(1, 13)]
    assert drawn == example["ids"]


def test_shares_are_spread_evenly():
    counts = Counter(
        int(10 * random_share(seed, step)) for seed in range(100) for step in range(1, 101)
    )
    assert sorted(counts) == list(range(10))
    assert all(abs(count - 1000) < 150 for count in counts.values())  # five standard deviations


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_drawn_by_their_probability(temperature):
    expected = torch.softmax(LOGITS.double() / temperature, -1)
    counts = Counter(draw(Drawing(temperature, seed), LOGITS, 1) for seed in range(4000))
    for token, probability in enumerate(expected.tolist()):
        assert counts[token] / 4000 == pytest.approx(probability, abs=0.03)


def test_a_low_temperature_draws_the_most_probable_token_and_never_an_impossible_one():
    assert {draw(Drawing(0.1, seed), LOGITS, 1) for seed in range(200)} == {0}
    impossible = torch.tensor([0.0, -torch.inf, 0.0, -torch.inf])
    assert {draw(Drawing(5.0, seed), impossible, 3) for seed in range(200)} == {0, 2}


def test_a_trace_of_drawn_tokens_comes_again_with_its_seed(explorable):
    first, again, other = (
        explorable.trace("1 2 3", draw=(2.0, seed), capture="full") for seed in (7, 7, 8)
    )
    assert first.facts["interventions"] == ["draw 2 7"]
    assert first.predicted_tokens == again.predicted_tokens != other.predicted_tokens
    assert first.predicted_tokens != explorable.trace("1 2 3").predicted_tokens
    assert first.integrity().ok.all()
    steps = first.steps()
    assert not steps.forced.any()
    assert steps[steps.chosen].groupby("step").size().eq(1).all()
    assert not set(steps[steps.chosen].id) & {PAD, BOS}


def test_drawn_tokens_follow_from_the_logits_of_their_step(explorable):
    trace = explorable.trace("1 2 3", draw=(1.5, 3), capture="full")
    logits = torch.tensor(trace.arrays["logits"])
    steps = trace.steps()
    for step, own in zip(steps[steps.chosen].step, steps[steps.chosen].id, strict=True):
        assert EOS + draw(Drawing(1.5, 3), logits[step - 1, EOS:], step) == own


def test_a_forced_token_is_not_drawn(explorable):
    drawn = explorable.trace("1 2 3", draw=(2.0, 7), force={1: 4})
    steps = drawn.steps()
    assert steps[steps.chosen & steps.forced].id.tolist() == [4]


@pytest.mark.parametrize(
    "wrong", [(0.0, 1), (6.0, 1), (1.0, -1), (1.0, 10_000), (1.0, 1.5), (True, 1), (1.0,), "draw"]
)
def test_a_wrong_drawing_is_refused(explorable, wrong):
    with pytest.raises(ConfigError, match=r"a temperature from 0\.1 to 5 and a seed"):
        explorable.trace("1 2 3", draw=wrong)


@pytest.mark.parametrize(
    ("line", "got"),
    [
        ("draw 1", "1"),
        ("draw x 1", "x 1"),
        ("draw 9 1", "9 1"),
        ("draw 1 1 1", "1 1 1"),
        ("draw nan 1", "nan 1"),
        ("draw 0.8 -3", "0.8 -3"),
    ],
)
def test_a_wrong_line_is_refused_with_what_came_and_the_ranges(line, got):
    with pytest.raises(InterventionError, match=rf"from 0\.1 to 5 .* 0 to 9999.* not {got}\."):
        Interventions.parse([line])


def test_a_line_without_a_temperature_is_no_intervention():
    with pytest.raises(InterventionError, match="is no intervention"):
        Interventions.parse(["draw"])


def test_a_line_names_the_temperature_whole():
    given = Interventions.gather(draw=(0.12345678, 3))
    assert given.texts() == ("draw 0.12345678 3",)
    assert Interventions.parse(given.texts()) == given


def test_of_several_drawings_the_last_counts():
    assert Interventions.parse(["draw 1 2", "draw 0.5 3"]).texts() == ("draw 0.5 3",)


def allowed(drawing: Drawing, logits: torch.Tensor) -> set[int]:
    """The ids that are drawn in many draws at a high temperature."""
    return {draw(drawing, logits, step) for step in range(1, 3000)}


def test_top_k_and_top_p_leave_what_the_library_leaves():
    library = pytest.importorskip("transformers")
    torch.manual_seed(0)
    for k, p in [(3, None), (None, 0.6), (5, 0.5), (20, 0.95), (1, None), (None, 0.01)]:
        logits = torch.randn(12)
        scores = library.TemperatureLogitsWarper(1.3)(None, logits[None])
        if k is not None:
            scores = library.TopKLogitsWarper(k)(None, scores)
        if p is not None:
            scores = library.TopPLogitsWarper(p)(None, scores)
        likely = (scores[0].softmax(-1) > 0.005).nonzero()[:, 0].tolist()
        found = allowed(Drawing(1.3, 7, k, p), logits)
        assert set(likely) <= found <= set(scores[0].isfinite().nonzero()[:, 0].tolist())


def test_of_equally_probable_tokens_the_first_are_kept():
    assert allowed(Drawing(1.0, 3, 2), torch.zeros(5)) == {0, 1}
    assert allowed(Drawing(1.0, 3, None, 0.5), torch.zeros(4)) == {0, 1}
    assert allowed(Drawing(1.0, 3, 3, 0.5), torch.zeros(4)) == {0, 1}


def test_top_k_of_one_is_greedy_decoding(explorable):
    drawn = explorable.trace("1 2 3", draw=(5.0, 7, 1))
    assert drawn.predicted_tokens == explorable.trace("1 2 3").predicted_tokens
    assert drawn.facts["interventions"] == ["draw 5 7 k=1"]


def test_without_k_and_p_the_tokens_are_those_of_old_lines(explorable):
    plain, given = (explorable.trace("1 2 3", draw=how) for how in ((2, 7), (2.0, 7, None, None)))
    assert plain.predicted_tokens == given.predicted_tokens
    assert plain.facts["interventions"] == given.facts["interventions"] == ["draw 2 7"]


@pytest.mark.parametrize(
    ("line", "drawing"),
    [
        ("draw 0.8 7 k=40", (0.8, 7, 40)),
        ("draw 0.8 7 p=0.9", (0.8, 7, None, 0.9)),
        ("draw 0.8 7 k=40 p=0.9", (0.8, 7, 40, 0.9)),
        ("draw 1 0 k=9999 p=1", (1, 0, 9999, 1)),
    ],
)
def test_a_line_names_k_and_p(line, drawing):
    given = Interventions.gather(draw=drawing)
    assert given.texts() == (line,)
    assert Interventions.parse([line]) == given


@pytest.mark.parametrize(
    "wrong",
    ["k=0", "k=10000", "k=1.5", "k=", "p=0", "p=1.1", "p=nan", "p=", "p=0.9 k=4", "k=4 k=5", "q=1"],
)
def test_a_wrong_k_or_p_is_refused(wrong):
    with pytest.raises(InterventionError) as caught:
        Interventions.parse([f"draw 0.8 7 {wrong}"])
    assert caught.value.key == "bad_drawing"


@pytest.mark.parametrize(
    "wrong", [(1.0, 1, 0), (1.0, 1, 2.0), (1.0, 1, True), (1.0, 1, 2, 0.0), (1.0, 1, 2, 0.5, 1)]
)
def test_a_wrong_k_or_p_is_refused_in_python(explorable, wrong):
    with pytest.raises(ConfigError):
        explorable.trace("1 2 3", draw=wrong)
