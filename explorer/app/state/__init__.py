"""What the server remembers of one visitor: one dataclass a page, session keys, the URL.

May import the packages below `app`, and of `app` the server, the lessons and what a request and a
link are; no view, no widget and no cache of models or traces.
"""
