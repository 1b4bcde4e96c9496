"""A model of the library `transformers` with the methods of `HeadStudies`."""

from explorer.heads.head_studies import HeadStudies
from explorer.model.huggingface.traced_model import HuggingFaceModel


class StudiedHuggingFaceModel(HeadStudies, HuggingFaceModel):
    """As `StudiedModel`; a method that needs what the library does not give says so."""
