import time

from explorer.jobs import heartbeat as module
from explorer.jobs.heartbeat import Heartbeat
from explorer.jobs.training_run import create_run
from tests.support.short_runs import LONGER, heartbeats


def test_of_two_threads_that_write_the_status_the_newest_wins(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "INTERVAL", 0.001)
    run = create_run(tmp_path / "one", LONGER)
    with Heartbeat(run) as heartbeat:
        assert heartbeats() == ["heartbeat-one"]
        for step in range(200):
            heartbeat.update(("preparing", "running")[step % 2], step)
            assert run.status().step == step
        heartbeat.update("stopped", 200)
        time.sleep(0.02)
        assert (run.status().state, run.status().step) == ("stopped", 200)
    assert not heartbeats()
