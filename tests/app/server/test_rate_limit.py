from explorer.app.server.rate_limit import RateLimiter


def test_an_allowance_runs_out_and_refills(monkeypatch):
    limiter, now = RateLimiter(owners=9), [100.0]
    monkeypatch.setattr("explorer.app.server.rate_limit.time.monotonic", lambda: now[0])
    assert [limiter.spend({"a": 1}, 2, 3) for _ in range(4)] == [True, True, True, False]
    now[0] += 0.5
    assert [limiter.spend({"a": 1}, 2, 3) for _ in range(2)] == [True, False]
    assert limiter.spend({"b": 1}, 2, 3)


def test_a_request_that_one_owner_has_not_left_costs_the_others_nothing():
    limiter = RateLimiter(owners=9)
    assert limiter.spend({"a": 1, "all": 3}, 0, 1)
    assert not limiter.spend({"a": 1, "all": 3}, 0, 1)
    assert [limiter.spend({f"visitor {n}": 1, "all": 3}, 0, 1) for n in range(3)] == [1, 1, 0]


def test_only_the_owners_seen_last_are_remembered():
    limiter = RateLimiter(owners=2)
    assert [limiter.spend({owner: 1}, 0, 1) for owner in "abcbca"] == [1, 1, 1, 0, 0, 1]
