"""Entry script: `streamlit run app.py`.

Streamlit serves an ASGI app only if the script itself assigns `st.App(…)`, so the call is here
and its arguments are in `explorer/app/asgi.py`. The installed package carries this file
and `.streamlit/config.toml` beside it.
"""

import streamlit as st

from explorer.app.server import streamlit_parts

streamlit_parts.check()  # before anything imports what a version may lack

from explorer.app import asgi  # noqa: E402

app = st.App(asgi.MAIN, routes=asgi.routes(), middleware=asgi.middleware(), lifespan=asgi.lifespan)
