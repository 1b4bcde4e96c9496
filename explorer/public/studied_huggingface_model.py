"""A model of the library `transformers` with the methods of `HeadStudies`."""

from pathlib import Path
from typing import NoReturn

from explorer.core.errors import ConfigError
from explorer.model.huggingface.traced_model import HuggingFaceModel
from explorer.public.head_studies import HeadStudies


class StudiedHuggingFaceModel(HeadStudies, HuggingFaceModel):
    """As `StudiedModel`. A method that needs data the library does not give raises an error that
    says so."""

    def to_html(self, path: str | Path, text: str | None = None, *, pad: int = 0) -> NoReturn:
        """Raises `ConfigError`: no browser runs a model of the library. `Trace.to_html` works."""
        raise ConfigError("no_live_page", name=self.name)
