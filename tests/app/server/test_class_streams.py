"""When the streams of a class send: each change, signs of life, and never too often."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from explorer.app.server import class_streams
from explorer.app.server.class_session import ClassSession, Screen, Seat
from explorer.app.server.class_streams import Pulse
from tests.support.own_loop import run_alone

VIEW = {"query": {"model": "reverse"}, "shown": {"step": 2}}


def open_class() -> tuple[ClassSession, Pulse]:
    pulse = Pulse()
    return ClassSession(pulse.soon), pulse


def follow(session: ClassSession, pulse: Pulse, *, host: bool = False) -> AsyncIterator[bytes]:
    seat = Seat(session.admit(""), "192.0.2.1", host, "a" if host else "")
    return class_streams.events(session, pulse, seat)


def steps(heard: list[bytes]) -> list[int | None]:
    """The step of each message; None for one without a view."""
    told = [json.loads(one.removeprefix(b"data: ")) for one in heard if one.startswith(b"data")]
    return [one["view"] and one["view"]["shown"]["step"] for one in told]


def show(session: ClassSession, step: int) -> None:
    session.show(Screen(view={**VIEW, "shown": {"step": step}}))


def test_a_stream_tells_each_change_and_signs_of_life(monkeypatch):
    monkeypatch.setattr(class_streams, "HEARTBEAT", 0.01)
    monkeypatch.setattr(class_streams, "PAUSE", 0)

    async def listen() -> list[bytes]:
        session, pulse = open_class()
        stream = follow(session, pulse)
        heard = [await anext(stream)]
        while not heard[-1].startswith(b"event: beat"):
            heard.append(await anext(stream))
        show(session, 2)
        while not heard[-1].startswith(b"data"):
            heard.append(await anext(stream))
        session.end()
        heard.extend([event async for event in stream])
        assert session._seats == set()
        return heard

    heard = run_alone(listen())
    assert steps(heard) == [None, 2]
    assert all(event.endswith(b"\n\n") for event in heard)


def test_many_changes_at_once_are_one_message_and_the_last_one_is_told():
    async def listen() -> list[bytes]:
        session, pulse = open_class()
        stream = follow(session, pulse)
        heard = [await anext(stream)]
        for step in range(1, 50):
            show(session, step)
        while not heard[-1].startswith(b"data") or steps(heard)[-1] != 49:
            heard.append(await anext(stream))
        await stream.aclose()
        return heard

    assert steps(run_alone(listen())) == [None, 49]


def test_a_first_change_is_told_at_once_and_the_next_after_the_pause(monkeypatch):
    """With a pause of an hour, the first one only."""
    monkeypatch.setattr(class_streams, "PAUSE", 3600)

    async def listen() -> list[bytes]:
        session, pulse = open_class()
        show(session, 1)
        stream = follow(session, pulse)
        heard = [await anext(stream), await anext(stream)]
        show(session, 2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.05)
        return heard

    assert steps(run_alone(listen())) == [1]


def test_what_guests_change_waits_longer_than_what_the_host_changes(monkeypatch):
    """With a pause of an hour, until the host shows something."""
    monkeypatch.setattr(class_streams, "PAUSE", 0)
    monkeypatch.setattr(class_streams, "PAUSE_OF_GUESTS", 3600)

    async def listen() -> None:
        session, pulse = open_class()
        first = pulse.next()
        show(session, 1)
        await asyncio.wait_for(first, 30)
        second = pulse.next()
        number = session.version
        session.join(Seat(session.admit(""), "192.0.2.1", False))
        assert session.version > number
        await asyncio.sleep(0.05)
        assert not second.done()
        show(session, 2)
        await asyncio.wait_for(second, 30)

    run_alone(listen())


def test_a_stream_that_is_read_slowly_is_told_what_is_shown_by_then():
    async def listen() -> list[bytes]:
        session, pulse = open_class()
        slow, fast = follow(session, pulse), follow(session, pulse)
        heard = [await anext(slow)]
        await anext(fast)
        for step in (1, 2, 3):
            show(session, step)
            while steps([await anext(fast)]) != [step]:
                pass
        heard.append(await anext(slow))
        for stream in (slow, fast):
            await stream.aclose()
        return heard

    assert steps(run_alone(listen())) == [None, 3]


def test_the_end_of_a_host_s_stream_is_noted_some_time_later(monkeypatch):
    monkeypatch.setattr(class_streams, "GRACE", 0.01)

    async def listen() -> list[bool]:
        session, pulse = open_class()
        host, guest = follow(session, pulse, host=True), follow(session, pulse)
        await anext(host)
        show(session, 1)
        heard = [await anext(guest)]
        await host.aclose()
        while not heard[-1].startswith(b"data") or not json.loads(heard[-1][6:])["away"]:
            heard.append(await anext(guest))
        await guest.aclose()
        return [json.loads(one[6:])["away"] for one in heard if one.startswith(b"data")]

    away = run_alone(listen())
    assert away[0] is False
    assert away[-1] is True


def test_streams_follow_on_the_event_loop_of_the_server():
    """Where it is installed, uvicorn runs on uvloop, whose timers are not those of asyncio."""
    uvloop = pytest.importorskip("uvloop")

    async def listen() -> list[bytes]:
        session, pulse = open_class()
        stream = follow(session, pulse)
        heard = [await anext(stream)]
        for step in (1, 2):
            show(session, step)
            while steps(heard)[-1:] != [step]:
                heard.append(await anext(stream))
        await stream.aclose()
        return heard

    assert steps(run_alone(listen(), uvloop.new_event_loop)) == [None, 1, 2]
