"""Answers in parts: all of the bytes, and few parts in one turn of the event loop."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message

from explorer.app.server import large_answer as module
from explorer.app.server.large_answer import AT_ONCE, PART, LargeAnswer
from tests.support.own_loop import run_alone


@pytest.mark.parametrize("size", [0, 1, PART, 3 * PART + 7])
def test_an_answer_has_all_bytes_and_tells_how_many(size):
    data = bytes(range(251)) * (size // 251 + 1)

    async def serve(_: Request) -> Response:
        return LargeAnswer(data[:size], media_type="text/x-test", headers={"ETag": '"a"'})

    with TestClient(Starlette(routes=[Route("/", serve)])) as browser:
        answer = browser.get("/")
    assert answer.content == data[:size]
    assert answer.headers["content-length"] == str(size)
    assert answer.headers["etag"] == '"a"'
    assert answer.headers["content-type"].startswith("text/x-test")


def test_a_turn_of_the_event_loop_sends_few_parts_of_all_answers_together(monkeypatch):
    """Fifty browsers that take everything at once, so that no send waits."""
    monkeypatch.setattr(module, "_turns", asyncio.Semaphore(AT_ONCE))
    turn, sent = 0, []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def count_turns() -> None:
        nonlocal turn
        while True:
            turn += 1
            await asyncio.sleep(0)

    async def take(message: Message) -> None:
        if part := message.get("body"):
            sent.append((turn, len(part)))

    async def main() -> None:
        counting = asyncio.create_task(count_turns())
        answer = LargeAnswer(bytes(5 * PART))
        await asyncio.gather(*(answer({"type": "http"}, receive, take) for _ in range(50)))
        counting.cancel()

    run_alone(main())
    assert sum(size for _, size in sent) == 50 * 5 * PART
    turns = [number for number, _ in sent]
    assert (
        max(turns.count(number) for number in set(turns)) <= 2 * AT_ONCE
    )  # before and after the counting
