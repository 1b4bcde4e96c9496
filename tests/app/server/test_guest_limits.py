import pytest

from explorer.app.server import guest_limits
from explorer.app.server.class_session import MOST_STREAMS, ClassSession, Seat


@pytest.mark.parametrize(
    ("setting", "pages", "curves", "factor"),
    [
        ("", 150, 30, 1),
        ("300", 300, 300, 2),
        ("20", 20, 20, 1),
        ("9999999", 4096, 4096, 4096 / 150),
        *((wrong, 150, 30, 1) for wrong in ("0", "-5", "many", "1e3")),
    ],
)
def test_the_setting_says_what_one_address_may_have(setting, pages, curves, factor, monkeypatch):
    monkeypatch.setenv(guest_limits.VARIABLE, setting)
    assert guest_limits.pages_of_address() == pages
    assert guest_limits.curves_of_address() == curves
    assert guest_limits.factor() == pytest.approx(factor)


def test_a_school_behind_one_address_has_room_for_as_many_pages_as_set(monkeypatch):
    most = MOST_STREAMS + 100
    monkeypatch.setenv(guest_limits.VARIABLE, str(most))
    together = ClassSession()
    for _ in range(most):
        assert together.has_room("192.0.2.7")
        together.join(Seat(together.admit(""), "192.0.2.7", False))
    assert not together.has_room("192.0.2.7")
    assert together.has_room("192.0.2.8")
