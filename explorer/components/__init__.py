"""Everything drawn in the browser, as payloads and bundles of JavaScript and CSS.

May import `core`, and those modules of `model`, `heads`, `training` and `jobs` that do not import
torch; no Streamlit.
"""
