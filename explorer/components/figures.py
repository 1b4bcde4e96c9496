"""`figure`: one function for all figures in Python, chosen by what it is given."""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING

from explorer.components.head_figure import head_figure, heads_figure
from explorer.core.errors import TraceError
from explorer.core.files import as_path
from explorer.core.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

    from explorer.components.table_figure import TableFigure
    from explorer.heads.contributions.contributions_result import Contributions
    from explorer.heads.patching.patching_result import Patching
    from explorer.heads.reports.head_report import HeadReport


def figure(
    subject: "Trace | HeadReport | Patching | Contributions | Mapping[str, pd.DataFrame] | str"
    " | PathLike[str]",
    site: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
    colour_limit: float | None = None,
) -> "TableFigure":
    """A Plotly figure of `subject`, with its numbers as `table` and `write_image` for files.

    >>> explorer.figure(trace, "cross", 1, 3).write_image("head.pdf")

    Of a trace one head, as a heatmap: queries down, keys across, masked cells in grey; without
        layer or head all heads side by side. site: None = "cross", else the stack that there is.
    Of a report the metrics `x` and `y` of all heads, as points, or, with site, layer and head, the
        offsets that the head attends to, as bars.
    Of `patch` the share restored, layers down, heads or positions across; of `contributions` each
        output token down, the tokens it is made of across.
    Of tables of `prune` by order: their curves, with intervals.
    Of the folder of a training: its losses, or `y`, over the steps, or over `x`.

    colour_limit: of a trace, the weight from which a cell has the darkest colour, above 0; None =
        1, or the largest weight if that is more.

    The axes are positions with their tokens as labels, because a token may occur twice. Of many
    tokens every n-th has a label, and long ones are shortened; the pointer shows each in full.
    Raises `TraceError` on anything else, and on a site or head that is not there, `ConfigError` on
    a metric, `RunError` on a folder without metrics.
    """
    if isinstance(subject, Trace):
        own = subject.sites[-1] if site is None else site
        if layer is None or head is None:
            return heads_figure(subject, own, layer, head, colour_limit)
        return head_figure(subject, own, layer, head, colour_limit)
    from explorer.components import study_figure  # late, as is Plotly
    from explorer.heads.contributions.contributions_result import Contributions
    from explorer.heads.patching.patching_result import Patching
    from explorer.heads.reports.head_report import HeadReport

    if isinstance(subject, HeadReport):
        if site is None or layer is None or head is None:
            return study_figure.metrics_figure(subject, x, y)
        return study_figure.offsets_figure(subject, site, layer, head)
    if isinstance(subject, Patching):
        return study_figure.patching_figure(subject)
    if isinstance(subject, Contributions):
        return study_figure.contributions_figure(subject)
    if isinstance(subject, Mapping) and all(hasattr(one, "heads_left") for one in subject.values()):
        return study_figure.pruning_figure(subject)
    if isinstance(subject, str | PathLike):
        return study_figure.training_figure(as_path(subject), x, y)
    raise TraceError("no_figure", got=type(subject).__name__)
