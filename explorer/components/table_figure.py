"""The Plotly figure of `explorer.figure`: with its numbers as a table, and images as files."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio

from explorer.core.errors import FileError

_DRAWN = "plotly_mimetype"  # the renderer of viewers that have Plotly themselves
_MOST_ROWS, _MOST_COLUMNS = 60, 40  # of the table as HTML; the middle of a larger one is left out


class TableFigure(go.Figure):  # type: ignore[misc]  # Plotly has no types
    """A figure of Plotly, and the numbers that it draws; NaN = a masked cell."""

    _ipython_display_ = None  # Plotly's own one shows a script and no table

    def __init__(self, *args: Any, table: pd.DataFrame | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self._table = pd.DataFrame() if table is None else table

    @property
    def table(self) -> pd.DataFrame:
        """The numbers."""
        return self._table

    def _repr_mimebundle_(self, *args: Any, **options: Any) -> dict[str, Any]:
        """With the table for viewers without Plotly. Those that run scripts alone, as Colab, get
        one."""
        bundle: dict[str, Any] = {}
        if _DRAWN in pio.renderers.default.split("+"):
            bundle = pio.renderers[_DRAWN].to_mimebundle(self.to_dict())
        elif scripts := super()._repr_mimebundle_(*args, **options):
            return dict(scripts)
        html = self.table.to_html(na_rep="", max_rows=_MOST_ROWS, max_cols=_MOST_COLUMNS)
        return bundle | {"text/html": html}

    def to_image(self, *args: Any, **options: Any) -> bytes:
        """As Plotly's. Raises `FileError` without kaleido or Chrome."""
        with _kaleido():
            return bytes(super().to_image(*args, **options))

    def write_image(self, *args: Any, **options: Any) -> None:
        """As Plotly's: SVG, PDF or PNG. Raises `FileError` without kaleido or Chrome."""
        with _kaleido():
            super().write_image(*args, **options)


@contextmanager
def _kaleido() -> Iterator[None]:
    """Raise `FileError` if the block lacks kaleido or Chrome."""
    if find_spec("kaleido") is None:
        raise FileError("no_image_writer")
    try:
        yield
    except RuntimeError as error:  # as Plotly and kaleido say that Chrome is missing
        raise FileError("no_image_writer") from error
