"""The route that gives the host's browser the cookie by which the server knows it.

The page `host_page` sends the ticket of the single-use link, or the key that the host has typed. No
script can read the cookie, no other site can send a request with it, and it ends with the browser,
or with the key, see `host_key`.
"""

import math
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server import access
from explorer.app.server.key_attempts import KeyAttempts
from explorer.app.server.rate_limit import address_of
from explorer.app.server.sentence import sentence

PATH = "/host-cookie"
TICKET_HEADER, KEY_HEADER = "X-Host-Ticket", "X-Host-Key"
"""Headers that no form of another page can send; their values are percent-encoded."""

_key_attempts = KeyAttempts(addresses=4096)


async def set_cookie(request: Request) -> Response:
    """The cookie in exchange for a ticket or the key; else 403, or 429 while the address has to
    wait after several wrong keys."""
    refused = _refused(request)
    if refused is not None:
        return refused
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        access.cookie_name(),
        access.cookie_value(),
        path=request.url.path.removesuffix(PATH) or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",  # a link of another site, such as a course, opens the host's page
    )
    return response


def _refused(request: Request) -> Response | None:
    """The answer that refuses a request, or None."""
    if ticket := request.headers.get(TICKET_HEADER):
        taken = access.take_ticket(unquote(ticket))
        return None if taken else sentence(403, "classroom.link_used", request.headers)
    address = address_of(request)
    right = access.is_key(unquote(request.headers.get(KEY_HEADER, "")))
    if _key_attempts.attempt(address, right):
        return None
    if wait := math.ceil(_key_attempts.wait(address)):
        return sentence(429, "classroom.key_wait", request.headers, seconds=wait)
    return sentence(403, "classroom.key_wrong", request.headers)
