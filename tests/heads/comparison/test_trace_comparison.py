import pytest

from explorer.core.number_format import short_number
from explorer.heads.comparison.trace_comparison import TraceComparison


@pytest.fixture
def comparison(explorable) -> TraceComparison:
    """An output of two tokens that becomes one of four, teacher-forced."""
    original = explorable.trace("1 2", target="1 2")
    changed = explorable.trace("1 2", target="1 3 3 3")
    forced = explorable.trace("1 2", target="1 2", ablate=[("cross", 0, 0)])
    return TraceComparison(original, changed, forced)


def test_outputs_are_compared_token_by_token_as_far_as_the_longer_one_reaches(comparison):
    assert comparison.outputs == (["1", "2", "<eos>"], ["1", "3", "3", "3", "<eos>"])
    assert comparison.same == [True, False, False, False, False]
    assert not comparison.same_text


def test_the_change_of_the_probability_is_that_of_the_whole_original_output(comparison):
    before, after = (float(one.losses.sum()) for one in (comparison.original, comparison.forced))
    assert comparison.log_probability == pytest.approx(before - after, abs=1e-5)


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
