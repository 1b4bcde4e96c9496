from pathlib import Path

import numpy as np

from explorer.app.last_probe import look_ahead_head, probe_request
from explorer.core.trace import Trace
from explorer.jobs.training_run import Run
from explorer.model.explorable import load
from tests.support.finished_runs import finished_run

ROOT = Path(__file__).parents[2]


def test_the_probe_of_a_run_is_asked_for_with_its_right_answer_fed_in(tmp_path):
    """Without the causal mask a model may write nothing itself: one row, which looks at bos."""
    trained = Run(ROOT / "tests" / "frozen" / "runs" / "done")
    stored = trained.probe(trained.moments()[-1]["step"])
    request = probe_request(trained, "runs/done")
    trace = load(trained.checkpoint_path).trace(request.text, force=dict(request.forced))
    assert trace.target_tokens == stored.target_tokens
    assert (request.model, request.pad) == ("runs/done", 0)
    unrecorded = finished_run(tmp_path / "own-2")
    assert probe_request(unrecorded, "own-2") is None
    assert look_ahead_head(unrecorded) is None


def test_the_head_that_looks_ahead_is_read_once(monkeypatch):
    """It is asked for whenever the page is drawn."""
    trained = Run(ROOT / "tests" / "frozen" / "runs" / "done")
    stored = trained.probe(trained.moments()[-1]["step"])
    weights = stored.attention("decoder")
    ahead = [[np.diag(head[:, 1:]).mean() for head in layer] for layer in weights]
    layer, head = np.unravel_index(np.argmax(ahead), np.shape(ahead))
    assert look_ahead_head(trained) == (layer, head)
    monkeypatch.setattr(Trace, "load", None)
    assert look_ahead_head(trained) == (layer, head)
