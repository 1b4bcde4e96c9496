import threading

import pytest

from explorer.app.limited_cache import LimitedCache


def test_a_value_is_computed_once():
    cache, computed = LimitedCache(10), []
    for _ in range(2):
        assert cache.get("a", lambda: computed.append(1) or "x", len) == "x"
    assert computed == [1]
    assert cache.size == 1


def test_the_least_recently_used_are_dropped_and_the_newest_stays():
    told = []
    cache = LimitedCache(5, lambda: told.append(1))
    for key in ("aa", "bb"):
        cache.get(key, lambda key=key: key, len)
    cache.get("aa", lambda: pytest.fail("it is there"), len)
    assert told == []
    cache.get("cc", lambda: "cc", len)
    assert [cache.find(key) for key in ("aa", "bb", "cc")] == ["aa", None, "cc"]
    cache.get("large", lambda: "x" * 99, len)
    assert cache.find("large") is not None
    assert cache.size == 99
    cache.get("aa", lambda: "aa", len)
    assert cache.size == 2
    assert len(told) == 3


def test_room_is_made_before_a_value_is_computed():
    cache = LimitedCache(5)
    cache.get("a", lambda: "aaa", len)
    sizes = []
    cache.get("b", lambda: sizes.append(cache.size) or "b", len, expected=3)
    assert sizes == [0]


def test_a_failure_is_not_kept():
    cache = LimitedCache(5)

    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("a", fail, len)
    assert cache.get("a", lambda: "x", len) == "x"
    assert not cache._computing


def test_threads_that_ask_at_once_share_one_computation():
    cache, computed, found = LimitedCache(5), [], []
    asking = threading.Barrier(5)

    def slow() -> str:
        computed.append(1)
        asking.wait()  # until all ask
        return "x"

    def ask(first: bool) -> None:
        if not first:
            asking.wait()
        found.append(cache.get("a", slow, len))

    threads = [threading.Thread(target=ask, args=(number == 0,)) for number in range(4)]
    for thread in threads:
        thread.start()
    asking.wait()
    for thread in threads:
        thread.join()
    assert computed == [1]
    assert found == ["x"] * 4
