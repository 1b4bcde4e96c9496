from explorer.components.training_replay.own_choices import with_own_choices
from explorer.core.trace import Trace
from explorer.jobs import training_launcher


def likeliest(trace: Trace) -> list[str]:
    """The oracle: the candidate with the largest probability of each step."""
    found: dict[int, tuple[float, str]] = {}
    for step, probability, token in zip(
        trace.arrays["steps.step"],
        trace.arrays["steps.probability"],
        trace.candidate_tokens,
        strict=True,
    ):
        found[int(step)] = max(found.get(int(step), (-1.0, "")), (float(probability), token))
    return [found[step][1] for step in sorted(found)]


def test_a_probe_says_what_the_model_says_by_itself_not_the_answer_that_was_fed_in():
    run = training_launcher.find("recorded", "reverse")
    first, last = (run.probe(run.moments()[index]["step"]) for index in (0, -1))
    assert first.predicted_tokens == last.predicted_tokens  # the right answer, at every moment
    shown = with_own_choices(first)
    assert list(shown.predicted_tokens) == likeliest(first)
    assert shown.predicted_tokens != first.predicted_tokens  # the model has learnt nothing yet
    assert with_own_choices(last).predicted_tokens == last.predicted_tokens
    assert shown.target_tokens == first.target_tokens
    assert shown.integrity()["ok"].all() == first.integrity()["ok"].all()


def test_a_trace_without_candidates_stays_as_it_is():
    run = training_launcher.find("recorded", "reverse")
    probe = run.probe(run.moments()[0]["step"])
    arrays = {name: array for name, array in probe.arrays.items() if not name.startswith("steps.")}
    bare = Trace(
        source_tokens=probe.source_tokens,
        target_tokens=probe.target_tokens,
        predicted_tokens=probe.predicted_tokens,
        text=probe.text,
        arrays=arrays,
    )
    assert with_own_choices(bare) is bare
