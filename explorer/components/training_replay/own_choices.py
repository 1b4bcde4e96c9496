"""The model's own prediction at each row of a trace whose target was given."""

from dataclasses import replace

from explorer.core.trace import Trace


def with_own_choices(trace: Trace) -> Trace:
    """`trace` with the most probable candidate of each row as its prediction.

    The probe of a run has the right answer fed in, so its predicted tokens are that answer at every
    moment. The candidates show what the model has learnt. Rows without candidates keep their
    prediction. The result counts as a new capture, with its own digest.
    """
    if not trace.predicted_tokens or "steps.rank" not in trace.arrays:
        return trace
    own = list(trace.predicted_tokens)
    steps, ranks = trace.arrays["steps.step"], trace.arrays["steps.rank"]
    for step, rank, token in zip(steps, ranks, trace.candidate_tokens, strict=True):
        if rank == 1:
            own[int(step) - 1] = token
    return replace(trace, predicted_tokens=tuple(own), digest="")
