"""The route that gives the host's browser a cookie, so that a reload leaves the host's rights.

Streamlit itself cannot set cookies. After a visitor has shown the key, the page sends a ticket to
this route, which is valid once and for a minute; the key is never sent again. No script can read
the cookie, no other site can use it, and it ends with the browser or the server.
"""

from starlette.requests import Request
from starlette.responses import Response

from explorer.app.server import access

PATH = "/host-cookie"
TICKET_HEADER = "X-Host-Ticket"
"""A header that no form of another page can send."""


async def set_cookie(request: Request) -> Response:
    """The cookie in exchange for a ticket; 403 without a valid one."""
    if not access.take_ticket(request.headers.get(TICKET_HEADER, "")):
        return Response(status_code=403, headers={"Cache-Control": "no-store"})
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    response.set_cookie(
        access.cookie_name(),
        access.cookie_value(),
        path=request.url.path.removesuffix(PATH) or "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response
