"""How large a saved page may be."""

SMALL_PAGE = 1_800_000
"""Bytes of a page with a small trace, such as one of a few symbols, or with a short lesson."""
