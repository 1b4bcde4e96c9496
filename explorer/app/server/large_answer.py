"""Answers of several megabytes: in parts, of which the server sends few in a turn.

A socket takes much at once, and a send that need not wait gives nobody else a turn: four hundred
connections that ask for a model together held the event loop for seconds. What a browser has not
read is kept once, in the shared bytes, not again for each connection.
"""

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

PART = 2**16
"""Bytes sent at a time."""

AT_ONCE = 4
"""Parts of all answers that are sent in one turn of the event loop: less than a millisecond."""

_turns = asyncio.Semaphore(AT_ONCE)


class LargeAnswer(Response):
    """An answer whose content is sent in parts, each in its turn when the browser has taken most
    of the one before."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **head})
        for start in range(0, len(self.body), PART):
            async with _turns:
                await asyncio.sleep(0)
            part = self.body[start : start + PART]
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
