"""The stepping player: payload, scripts and styles that draw one `Trace`.

May import `core` and `components.shared`.
"""
