"""The server's memory of one visitor: one dataclass a page, session keys, the URL.

May import the packages below `app`, and from `app` the server; no view, no widget and no cache of
models or traces.
"""
