"""The stepping player: payload, scripts and styles that draw one `Trace`.

May import from `components` only `inside` and `shared`.
"""
