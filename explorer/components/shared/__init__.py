"""What the components share: the payload format and the bundled scripts and styles.

May import nothing else of `explorer`.
"""
