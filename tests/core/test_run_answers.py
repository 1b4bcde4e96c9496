"""Each named function of a training against the recorded one without the causal mask."""

import numpy as np
import pytest

from explorer.core.errors import LessonError
from explorer.core.lesson_answers import Place
from explorer.core.number_format import percent, short_number
from explorer.core.run_answers import RUN_ANSWERS, RunMoment, answer
from explorer.jobs import training_launcher
from tests.support.example_traces import example_trace

HEAD = Place("decoder", 0, 3, step=2)


@pytest.fixture(scope="module")
def moment() -> RunMoment:
    run = training_launcher.find("recorded", "reverse-without-mask")
    first, *_, last = run.moments()
    return RunMoment(first, run.probe(first["step"]), run.probe(last["step"]))


def test_the_numbers_are_those_of_the_moment(moment):
    assert answer("moment", moment, HEAD, "en") == "25"
    assert answer("loss", moment, HEAD, "en") == short_number(moment.numbers["held_out_loss"])
    assert answer("right outputs", moment, HEAD, "en") == percent(moment.numbers["exact_match"])


def test_the_probe_is_asked_as_any_trace(moment):
    row = moment.probe.attention("decoder")[0, 3, 1]
    assert answer("largest key", moment, HEAD, "en") == moment.probe.target_tokens[row.argmax()]
    for name in set(RUN_ANSWERS) - {"best head"}:  # it is given a gold alignment only sometimes
        assert answer(name, moment, HEAD, "zh")


@pytest.mark.parametrize(
    ("offset", "words"),
    [(-1, "left of the diagonal"), (0, "on the diagonal"), (1, "right of the diagonal")],
)
def test_the_picture_is_the_line_at_the_end(monkeypatch, offset, words):
    trace = example_trace()
    weights = np.full_like(trace.attention("decoder"), 0.1)
    weights[0, 3] += np.eye(weights.shape[-1], k=offset, dtype=weights.dtype)
    monkeypatch.setattr(type(trace), "attention", lambda self, site: weights)
    assert answer("picture", RunMoment({}, trace, trace), HEAD, "en") == words


@pytest.mark.parametrize("name", ["loss", "moment", "right outputs"])
def test_a_moment_without_the_number_is_refused(name):
    trace = example_trace()
    with pytest.raises(LessonError):
        answer(name, RunMoment({}, trace, trace), HEAD, "en")
