from pathlib import Path

import pytest

from explorer.app.state import pruning
from explorer.heads.pruning_jobs import pruning_job


@pytest.fixture(autouse=True)
def session_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session without a browser."""
    monkeypatch.setattr("streamlit.session_state", {})


def test_the_curves_of_a_started_job_are_shown_and_stay_when_it_ends() -> None:
    assert pruning.job() is None
    assert pruning.shown_key() is None
    job = pruning_job(Path("reports/digest-pruning/sentences"))
    pruning.follow_job(job)
    assert pruning.job() == job
    assert pruning.shown_key() == "sentences"
    pruning.show("others")
    pruning.follow_job(None)
    assert pruning.job() is None
    assert pruning.shown_key() == "others"
