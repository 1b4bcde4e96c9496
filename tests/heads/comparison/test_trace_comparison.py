import numpy as np
import pytest

from explorer.core.interventions import Interventions
from explorer.core.number_format import short_number
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.removal.counterfactuals import compare_traces

ENCODER_HEAD = ("encoder", 0, 1)


@pytest.fixture
def comparison(explorable) -> TraceComparison:
    """An output of two tokens that becomes one of four, teacher-forced."""
    original = explorable.trace("1 2", target="1 2")
    changed = explorable.trace("1 2", target="1 3 3 3")
    forced = explorable.trace("1 2", target="1 2", ablate=[("cross", 0, 0)])
    return TraceComparison(original, changed, forced)


def test_steps_are_as_many_as_the_longer_output_has(comparison):
    steps = comparison.steps
    assert steps.step.tolist() == [1, 2, 3, 4, 5]
    assert steps.original.tolist() == ["1", "2", "<eos>", "", ""]
    assert steps.changed.tolist() == ["1", "3", "3", "3", "<eos>"]
    assert steps.same.tolist() == [True, False, False, False, False]
    assert not comparison.same_text


def test_probabilities_are_those_of_the_losses(comparison):
    steps = comparison.steps
    original, changed, forced = comparison.original, comparison.changed, comparison.forced
    np.testing.assert_allclose(steps.probability[:3], np.exp(-original.losses), rtol=1e-6)
    np.testing.assert_allclose(steps.changed_probability, np.exp(-changed.losses), rtol=1e-6)
    np.testing.assert_allclose(steps.forced_probability[:3], np.exp(-forced.losses), rtol=1e-6)
    assert (
        steps.loc[3:, ["probability", "forced_probability", "log_probability"]]
        .isna()
        .to_numpy()
        .all()
    )
    np.testing.assert_allclose(comparison.log_probability, steps.log_probability.sum(), rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "factor", "as_sure"),
    [
        *((-6e-7, "1.00", True), (0.0049, "1.00", True), (-0.0049, "1.00", True)),
        *((0.0051, "1.01", False), (-0.0051, "0.99", False), (-700, "1e−304", False)),
    ],
)
def test_an_output_is_as_sure_as_before_where_the_factor_reads_1(
    comparison, monkeypatch, change, factor, as_sure
):
    monkeypatch.setattr(TraceComparison, "log_probability", change)
    assert short_number(comparison.factor) == factor
    assert comparison.as_sure == as_sure


def test_a_map_is_forced_minus_original(comparison):
    for site in ("encoder", "decoder", "cross"):
        expected = comparison.forced.attention(site) - comparison.original.attention(site)
        np.testing.assert_array_equal(comparison.map(site), expected)


def test_it_opens_on_the_head_that_changes_most_and_not_on_a_removed_one(explorable):
    original = explorable.trace("1 2")
    for line in ("ablate encoder.0.0", "row cross.0.1 0 0,0,1"):
        options = Interventions.parse([line]).options()
        changed = explorable.trace("1 2", **options)
        compared = compare_traces(explorable, original, changed)
        head = compared.initial_head()
        changes = {
            (site, *place): np.abs(compared.map(site)[place]).max()
            for site in original.sites
            for place in np.ndindex(compared.map(site).shape[:2])
            if (site, *place) != ("encoder", 0, 0)
        }
        assert tuple(head) == max(changes, key=changes.get)
    assert TraceComparison(original, original, original).initial_head() is None


@pytest.mark.parametrize("removed", [[ENCODER_HEAD], [ENCODER_HEAD, ("cross", 0, 0)]])
def test_it_opens_on_the_first_removed_head_where_no_weight_changes(explorable, removed):
    original, changed = explorable.trace("1 2"), explorable.trace("1 2", ablate=removed)
    assert TraceComparison(original, changed, original).initial_head() == ENCODER_HEAD
