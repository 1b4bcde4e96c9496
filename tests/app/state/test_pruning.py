import pytest

from explorer.app.state import pruning


@pytest.fixture(autouse=True)
def session_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session without a browser."""
    monkeypatch.setattr("streamlit.session_state", {})


def test_the_curves_that_were_chosen_stay_on_screen() -> None:
    assert pruning.shown_key() is None
    pruning.show("others")
    assert pruning.shown_key() == "others"
