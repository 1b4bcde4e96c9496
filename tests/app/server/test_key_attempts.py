import pytest

from explorer.app.server.key_attempts import FREE, LONGEST, KeyAttempts


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The clock, stopped."""
    clock = [5000.0]
    monkeypatch.setattr("explorer.app.server.key_attempts.time.monotonic", lambda: clock[0])
    return clock


def fail(attempts: KeyAttempts, address: str, times: int, now: list[float]) -> None:
    """Try so many wrong keys, each as soon as it counts."""
    for _ in range(times):
        now[0] += attempts.wait(address)
        assert not attempts.attempt(address, right=False)


def test_the_wait_grows_with_each_wrong_key_up_to_a_minute(now):
    attempts, waits = KeyAttempts(addresses=9), []
    for _ in range(FREE + 8):
        fail(attempts, "192.0.2.7", 1, now)
        waits.append(attempts.wait("192.0.2.7"))
    assert waits == [0, 0, 1, 2, 4, 8, 16, 32, LONGEST, LONGEST, LONGEST]


def test_during_the_wait_even_the_right_key_does_not_count_and_afterwards_it_does(now):
    attempts = KeyAttempts(addresses=9)
    fail(attempts, "192.0.2.7", FREE + 2, now)
    assert not attempts.attempt("192.0.2.7", right=True)
    assert attempts.wait("192.0.2.7") == 4
    assert attempts.attempt("192.0.2.8", right=True)
    now[0] += 4
    assert attempts.attempt("192.0.2.7", right=True)
    fail(attempts, "192.0.2.7", FREE - 1, now)  # forgotten by the right one
    assert attempts.wait("192.0.2.7") == 0


def test_an_ipv6_visitor_gets_no_new_attempts_by_another_address_of_the_network(now):
    attempts = KeyAttempts(addresses=9)
    for number in range(FREE):
        attempts.attempt(f"2001:db8::{number}", right=False)
    assert attempts.wait("2001:db8::ffff") > 0
    assert attempts.wait("2001:db8:0:1::1") == 0


def test_wrong_keys_are_forgotten_after_an_hour(now):
    attempts = KeyAttempts(addresses=9)
    fail(attempts, "192.0.2.7", FREE + 5, now)
    now[0] += 3601
    fail(attempts, "192.0.2.7", 1, now)
    assert attempts.wait("192.0.2.7") == 0


def test_only_the_addresses_seen_last_are_remembered(now):
    attempts = KeyAttempts(addresses=5)
    for number in range(1000):
        attempts.attempt(f"visitor {number}", right=False)
    assert len(attempts._wrong) == 5
