"""Inside a head: how one weight arises from queries, keys and mask.

May import: core, components.payload. No torch, no Streamlit.
"""
