import pytest

from explorer.app.server import access, page_limit
from explorer.app.server.rate_limit import RateLimiter


@pytest.fixture(autouse=True)
def clock(monkeypatch) -> list[float]:
    """The time of the processor in seconds; allowances do not refill."""
    now = [0.0]
    monkeypatch.setattr(page_limit, "_pages", RateLimiter(owners=9))
    monkeypatch.setattr(access, "PAGE_RATE", 0.0)
    monkeypatch.setattr(page_limit.time, "thread_time", lambda: now[0])
    return now


def test_an_address_is_charged_with_what_it_used(clock):
    admitted = []
    for _ in range(3):
        with page_limit.charged_to("10.0.0.9") as may:
            admitted.append(may)
            clock[0] += access.MOST_PAGES / 2
    assert admitted == [True, True, False]
    with page_limit.charged_to("10.0.0.8") as may:
        assert may


def test_nobody_is_never_refused(clock):
    for _ in range(3):
        with page_limit.charged_to(None) as may:
            assert may
            clock[0] += 10 * access.MOST_PAGES
