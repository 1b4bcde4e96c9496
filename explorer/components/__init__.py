"""What is drawn in the browser, as payloads and bundles of JavaScript and CSS.

May import `core`, the head reports, roles and trace comparison of `heads`, and the torch-free
modules of `training` and `jobs`; neither torch nor Streamlit.
"""
