"""The stepping player: payload, scripts and styles that draw one `Trace`.

May import of `components` only `inside` and `shared`.
"""
