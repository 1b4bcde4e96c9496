"""What is drawn in the browser, as payloads and bundles of JavaScript and CSS.

May import `core`, and of `model`, `heads`, `training` and `jobs` what does not import torch; no
Streamlit.
"""
