"""Shared code of the components: the payload format and the bundled scripts and styles.

May import `core` alone.
"""
