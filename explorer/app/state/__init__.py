"""What the server remembers of one visitor: one dataclass a page, session keys, the URL.

May import `app.server` and the packages below `app`; no view,
no widget and no cache.
"""
