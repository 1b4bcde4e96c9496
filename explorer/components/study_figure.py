"""Results of studies, and the curves of a training, as Plotly figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from explorer.components.head_figure import RAMP
from explorer.components.map_layout import map_hover, map_layout, plain
from explorer.components.offset_figure import offset_chart, offset_shares
from explorer.components.table_figure import TableFigure
from explorer.core.errors import ConfigError, RunError
from explorer.heads.contributions.contributions_result import Contributions
from explorer.heads.patching.patching_result import AXES, Patching
from explorer.heads.reports.head_report import HeadReport
from explorer.training.recorded_run import RunFiles


def patching_figure(found: Patching) -> TableFigure:
    """What each value restores: layers down, heads or positions across."""
    stack, layer, column = AXES[found.sites]
    letter = "H" if column == "head" else ""
    table = found.matrix
    rows = [f"{site} L{number}" for site, number in table.index]
    columns = [f"{letter}{one}" for one in table.columns]
    title = f"share of {found.metric} that {found.sites} restore"
    title += f" in {found.receiver}" if found.receiver else ""
    return _map(table, title, (f"{stack}, {layer}", column), (rows, columns), "restored")


def contributions_figure(found: Contributions) -> TableFigure:
    """Each output token down, the tokens of source and prefix across."""
    sides = found.predicted_tokens, found.tokens
    rows, columns = ([f"{at} {token}" for at, token in enumerate(side)] for side in sides)
    table = pd.DataFrame(found.matrix, rows, columns)
    title = f"contributions of {found.model}, {found.method}"
    return _map(table, title, ("predicted token", "token"), sides, "contribution")


def _map(
    table: pd.DataFrame,
    title: str,
    names: tuple[str, str],
    labels: tuple[Sequence[str], Sequence[str]],
    value: str,
) -> TableFigure:
    """A heatmap of `table`; on both sides of 0 in two colours if it has negative values."""
    values = table.to_numpy(float)
    most = float(np.nanmax(np.abs(values), initial=0))
    signed = bool((values < 0).any())
    colours = {"colorscale": "RdBu" if signed else RAMP, "reversescale": signed}
    cell, data = map_hover(names, *labels)
    cells = {
        "type": "heatmap",
        "z": values,
        "x": list(range(values.shape[1])),
        "y": list(range(values.shape[0])),
        "zmin": -most if signed else 0,
        "zmax": most,
        "colorbar": {"title": {"text": value}},
        "hovertemplate": f"{cell}: %{{z:.4f}}<extra></extra>",
        **colours,
        **data,
    }
    return TableFigure({"data": [cells], "layout": map_layout(title, names, *labels)}, table=table)


def offsets_figure(report: HeadReport, site: str, layer: int, head: int) -> TableFigure:
    """The offsets that a head attends to, as bars. Raises `TraceError`."""
    shares = offset_shares(report, site, layer, head)
    chart = offset_chart(shares, "en")
    title = f"{site} attention, L{layer} H{head} of {report.facts['model']}: offsets"
    del chart["layout"]["height"], chart["layout"]["margin"]  # there is a title above
    return TableFigure(chart, table=pd.DataFrame(shares)).update_layout(title_text=plain(title))


def metrics_figure(report: HeadReport, x: str | None, y: str | None) -> TableFigure:
    """Two metrics of all heads, a point each. Raises `ConfigError` on one that is not there."""
    metrics = report.metrics
    across, up = _chosen("x", x or metrics[0], metrics), _chosen("y", y or metrics[1], metrics)
    figure = TableFigure(
        table=report.heads[["site", "layer", "head", *dict.fromkeys((across, up))]]
    )
    for site, heads in report.heads.groupby("site", sort=False):
        keys = list(heads[["layer", "head"]].itertuples(index=False, name=None))
        names = [f"{site} L{layer} H{head}" for layer, head in keys]
        roles = [report.role_text(str(site), *key) for key in keys]
        own = {"x": heads[across], "y": heads[up], "name": site, "mode": "markers"}
        text = [f"{name}: {role}" for name, role in zip(names, roles, strict=True)]
        shown = "%{text}<br>%{x:.4f}, %{y:.4f}<extra></extra>"
        figure.add_trace(go.Scatter(**own, text=text, hovertemplate=shown))
    title = plain(f"heads of {report.facts['model']}")
    return figure.update_layout(title_text=title, xaxis_title=across, yaxis_title=up)


def pruning_figure(curves: Mapping[str, pd.DataFrame]) -> TableFigure:
    """Tables of `prune` by order: a line and its interval each."""
    table = pd.concat(curves, names=["order"]).reset_index("order")
    figure = TableFigure(table=table)
    for order, curve in curves.items():
        spread = {
            "symmetric": False,
            "array": curve.high - curve.loss,
            "arrayminus": curve.loss - curve.low,
        }
        figure.add_trace(go.Scatter(x=curve.heads_left, y=curve.loss, error_y=spread, name=order))
    figure.update_xaxes(title="heads left", autorange="reversed")
    return figure.update_yaxes(title="loss (nats)", rangemode="tozero")


def training_figure(folder: Path, x: str | None, y: str | None) -> TableFigure:
    """The losses, or the metric `y`, over the steps, or the metric `x`, of the run in `folder`.

    Raises `RunError` without metrics, `ConfigError` on one that is not there.
    """
    files = RunFiles(folder)
    moments = pd.DataFrame(files.moments())
    if moments.empty:
        raise RunError("damaged_run", name=folder.name, file=files.metrics_path.name)
    metrics = [str(name) for name in moments.select_dtypes("number")]
    losses = [name for name in metrics if name.endswith("loss")]
    across = _chosen("x", x or "step", metrics)
    shown = [_chosen("y", y, metrics)] if y else losses
    figure = TableFigure(table=moments[list(dict.fromkeys((across, *shown)))])
    for name in shown:
        figure.add_trace(go.Scatter(x=moments[across], y=moments[name], name=name))
    title = plain(f"training {folder.name}")
    return figure.update_layout(
        title_text=title, xaxis_title=across, yaxis_title=y or "loss (nats)", showlegend=True
    )


def _chosen(name: str, metric: str, metrics: Sequence[str]) -> str:
    """The metric of an axis. Raises `ConfigError` on one that is not there."""
    if metric not in metrics:
        raise ConfigError("bad_choice", name=name, got=str(metric), choices=", ".join(metrics))
    return metric
