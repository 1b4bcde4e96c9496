"""Views of many heads: the head grid, the comparison of two traces, the metric matrix.

May import `core`, `components.payload`, `components.player`, and from `heads` the report, the roles
and the trace comparison.
"""
