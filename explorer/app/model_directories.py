"""The model directories below the folders named at the start, as members of the catalog.

No folder can be named through the browser: only listed directories can be opened.
"""

from collections.abc import Container
from dataclasses import replace
from pathlib import Path

import streamlit as st

from explorer.app import model_cache
from explorer.core import folders
from explorer.model.directory_search import FoundDirectory, find_directories, named_models
from explorer.model.listed_model import TextKind
from explorer.model.model_directory import DirectoryModel

_REFRESH = 5.0  # seconds between two looks at the folders, which may be large


def model_directories(taken: Container[str] = ()) -> dict[str, DirectoryModel]:
    """The listed directories by name. taken: names of other models."""
    roots = folders.models()
    if not roots:
        return {}
    models = named_models(_found(roots), taken)
    return {name: _as_opened(model) for name, model in models.items()}


@st.cache_resource(ttl=_REFRESH, max_entries=4, show_spinner=False)
def _found(roots: tuple[Path, ...]) -> tuple[FoundDirectory, ...]:
    return find_directories(roots)


def _as_opened(member: DirectoryModel) -> DirectoryModel:
    """A directory as listed or, once its model is loaded without a usable tokenizer, as a model of
    ids."""
    model = model_cache.opened(member)
    if model is None or model.tokens.tokenizer is not None:
        return member
    return replace(member, kind=TextKind.IDS, vocabulary=model.tokens.size)
