"""Paths below the app's address that are served by modules which `asgi` imports late."""

TRACE = "/trace"
"""Of a text, see `explore_route`."""

QUESTION = "/trace/{trace}/{question}/{place:path}"
"""About a trace, see `trace_route`."""

FETCH = "/fetch/{model:path}"
"""Of a known model, see `fetch_route`."""

PROBE = "/moments/{root}/{name}/{step}"
"""The trace of a run at a moment, see `probe_route`."""
