import pytest
from starlette.requests import Request

from explorer.app.server import access, rate_limit
from explorer.app.server.rate_limit import RateLimiter


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The clock, stopped."""
    clock = [100.0]
    monkeypatch.setattr("explorer.app.server.rate_limit.time.monotonic", lambda: clock[0])
    return clock


def test_an_allowance_runs_out_and_refills(now):
    limiter = RateLimiter(owners=9)
    for _ in range(3):
        assert limiter.allows({"a": 1}, 2, 3)
        limiter.charge({"a": 1}, 1, 2, 3)
    assert not limiter.allows({"a": 1}, 2, 3)
    now[0] += 0.5
    assert limiter.allows({"a": 1}, 2, 3)
    limiter.charge({"a": 1}, 1, 2, 3)
    assert not limiter.allows({"a": 1}, 2, 3)
    assert limiter.allows({"b": 1}, 2, 3)


def test_an_allowance_never_holds_more_than_the_most(now):
    limiter = RateLimiter(owners=9)
    limiter.charge({"a": 1}, 1, 2, 3)
    now[0] += 1000
    limiter.charge({"a": 1}, 3, 2, 3)
    assert not limiter.allows({"a": 1}, 2, 3)


def test_what_is_expensive_costs_a_wait_of_at_most_one_allowance(now):
    limiter = RateLimiter(owners=9)
    limiter.charge({"a": 1}, 1000, 2, 3)
    now[0] += 1.4
    assert not limiter.allows({"a": 1}, 2, 3)
    now[0] += 0.2
    assert limiter.allows({"a": 1}, 2, 3)


def test_all_owners_are_charged_and_one_without_allowance_refuses(now):
    limiter = RateLimiter(owners=9)
    for number in range(3):
        owners = {f"visitor {number}": 1, "all": 3}
        assert limiter.allows(owners, 0, 1)
        limiter.charge(owners, 1, 0, 1)
    assert not limiter.allows({"visitor 3": 1, "all": 3}, 0, 1)
    assert limiter.allows({"visitor 3": 1}, 0, 1)


def test_only_the_owners_seen_last_are_remembered(now):
    limiter = RateLimiter(owners=2)
    allowed = []
    for owner in "abcbca":
        allowed.append(limiter.allows({owner: 1}, 0, 1))
        limiter.charge({owner: 1}, 1, 0, 1)
    assert allowed == [True, True, True, False, False, True]


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time of the processor in seconds; allowances do not refill."""
    now = [0.0]
    monkeypatch.setattr(rate_limit, "_pages", RateLimiter(owners=9))
    monkeypatch.setattr(rate_limit, "PAGE_RATE", 0.0)
    monkeypatch.setattr(rate_limit.time, "thread_time", lambda: now[0])
    return now


@pytest.mark.parametrize("client", [("10.0.0.9", 4711), None])
def test_a_request_is_charged_to_its_address_in_class_mode_alone(client, clock, monkeypatch):
    request = Request({"type": "http", "client": client, "headers": []})
    assert rate_limit.address_of(request) == (client[0] if client else "")
    for key, expected in ("", [True] * 3), ("swordfish", [True, False, False]):
        monkeypatch.setenv(access.KEY_VARIABLE, key)
        admitted = []
        for _ in range(3):
            with rate_limit.charged_for(request) as may:
                admitted.append(may)
                clock[0] += rate_limit.MOST_PAGES
        assert admitted == expected


def test_an_address_is_charged_with_what_it_used_and_no_other(clock, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    admitted = []
    for address in (*["2001:db8::1"] * 2, "2001:db8::2", "2001:db8:0:1::1", "10.0.0.8"):
        scope = {"type": "http", "client": (address, 4711), "headers": []}
        with rate_limit.charged_for(Request(scope)) as may:
            admitted.append(may)
            clock[0] += rate_limit.MOST_PAGES / 2
    assert admitted == [True, True, False, True, True]  # IPv6: by the first 64 bits


def test_the_host_is_charged_nothing(clock, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    cookie = f"{access.cookie_name()}={access.cookie_value()}".encode()
    scope = {"type": "http", "client": ("10.0.0.9", 4711), "headers": [(b"cookie", cookie)]}
    for _ in range(3):
        with rate_limit.charged_for(Request(scope)) as may:
            assert may
            clock[0] += rate_limit.MOST_PAGES
