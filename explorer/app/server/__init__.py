"""The server's additions to Streamlit: routes, middleware, class mode, limits and warm-up.

May import the packages below `app`, and from `app` the definitions of a request and a link.
"""
