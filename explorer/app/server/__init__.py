"""What the server adds to Streamlit: routes, middleware, class mode, rate limit and warm-up.

May import the packages below `app`, and of `app` what a request and a link are.
"""
