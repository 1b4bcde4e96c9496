"""Form fields for the sentences a model is measured on: they are drawn, and read when the form's
button is pressed."""

from collections.abc import Sequence
from typing import NamedTuple, cast

import streamlit as st

from explorer.app import model_cache
from explorer.app.state import measurements, session
from explorer.app.state.measurements import EvaluationText
from explorer.app.widgets.file_uploader import PAIRS_ENDINGS, file_uploader
from explorer.app.widgets.messages import literal
from explorer.core.errors import PairsError
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten
from explorer.data.delimited import lines_or_table
from explorer.data.task_names import task_of
from explorer.jobs import measurement_jobs
from explorer.jobs.measurement_jobs import SOURCE_KINDS, Sentences, SourceKind
from explorer.model.catalog import CatalogModel

_FIRST = Sentences()
"""Initial values of the fields."""


class Sizes(NamedTuple):
    """Numbers of sentences: the initial one of a form, and the most it takes."""

    initial: int
    most: int


MEASURED = Sizes(_FIRST.size, measurement_jobs.MOST_SENTENCES)


def kinds_for(model: CatalogModel) -> tuple[SourceKind, ...]:
    """Possible sources of sentences. Only a toy task generates new ones."""
    refused = set()
    if task_of(model_cache.model_of(model).facts) is None:
        refused.add("task")
    if model.is_own and model.summary.decoder_only:
        refused.add("pairs")
    return tuple(kind for kind in SOURCE_KINDS if kind not in refused)


def lines_name(model: CatalogModel) -> str:
    """Name of the sentence about the targets of texts alone, as in `BatchPasses.texts`."""
    sites = {head.site for head in model_cache.model_of(model).passes.heads}
    if "cross" in sites:
        return "lines"
    return "lines_next" if "decoder" in sites else "lines_masked"


def choose_kind(kinds: Sequence[str], language: str, prefix: str) -> str:
    """Draw the choice of the source of sentences. prefix: of the keys of a form's widgets."""
    chosen: str = st.radio(
        say("heads.source", language),
        kinds,
        format_func=lambda name: say(f"heads.source_{name}", language),
        key=_kind_key(kinds, language, prefix),
    )
    return chosen


def chosen_kind(kinds: Sequence[str], language: str, prefix: str) -> str:
    """Current value of the field of `choose_kind`."""
    return str(session.widget_value(_kind_key(kinds, language, prefix), kinds[0]))


def sentence_fields(
    model: CatalogModel,
    kind: str,
    language: str,
    prefix: str,
    lines: str = "",
    sizes: Sizes = MEASURED,
) -> None:
    """Draw the fields for sentences of this kind. lines: their initial lines."""
    with st.container(horizontal=True):
        choose_size(kind, language, prefix, sizes)
        if kind == "task":
            label = say("heads.seed", language)
            st.number_input(label, 0, 9999, _FIRST.seed, key=f"{prefix}seed")
    if kind == "lines":
        label = say(f"heads.{lines_name(model)}", language)
        hint = "\n".join(model.examples[:2])
        st.text_area(label, lines, key=_lines_key(model, prefix, lines), placeholder=hint)
    if kind == "pairs":
        _pairs(language, prefix)


def chosen_sentences(
    model: CatalogModel, kind: str, prefix: str, lines: str = "", sizes: Sizes = MEASURED
) -> Sentences:
    """Current values of the fields of `sentence_fields`."""
    text, seed = "", _FIRST.seed
    if kind == "task":
        seed = int(session.widget_value(f"{prefix}seed", seed))
    if kind == "lines":
        text = str(session.widget_value(_lines_key(model, prefix, lines), lines))
    if kind == "pairs":
        text = measurements.current().pairs.text
    return Sentences(cast(SourceKind, kind), chosen_size(prefix, sizes), seed, text)


def choose_size(kind: str, language: str, prefix: str, sizes: Sizes = MEASURED) -> None:
    """Draw the field for the number of sentences: new ones are drawn, of others there may be
    fewer."""
    label = say("heads.size" if kind == "task" else "heads.size_most", language)
    st.number_input(label, 1, sizes.most, sizes.initial, key=f"{prefix}size")


def chosen_size(prefix: str, sizes: Sizes = MEASURED) -> int:
    """Current value of the field of `choose_size`."""
    return int(session.widget_value(f"{prefix}size", sizes.initial))


def _kind_key(kinds: Sequence[str], language: str, prefix: str) -> str:
    own = "" if "task" in kinds else "own-"
    return f"{prefix}kind-{own}{language}"


def _lines_key(model: CatalogModel, prefix: str, lines: str) -> str:
    return f"{prefix}lines" + (f"-{model.name}" if lines else "")


def _pairs(language: str, prefix: str) -> None:
    """Draw the file of sentence pairs, with the last upload."""
    label = say("heads.pairs", language)
    file_uploader(label, PAIRS_ENDINGS, language, _take_pairs, prefix=prefix, limit_mb=1)
    pairs = measurements.current().pairs
    if pairs.name:
        st.caption(literal(_taken(pairs, language)))


def _taken(pairs: EvaluationText, language: str) -> str:
    """Number of pairs in a file, and number of lines that are not pairs."""
    count = len(Sentences("pairs", text=pairs.text).lines)
    left_out = len(Sentences("lines", text=pairs.text).lines) - count
    said = say("heads.pairs_taken", language, name=pairs.name, count=count)
    return said + say("heads.pairs_left_out", language, count=left_out) if left_out else said


def _take_pairs(file_name: str, contents: bytes) -> None:
    """Keep the text of a file. Raises `PairsError` on one without a pair."""
    name = shorten(file_name)
    text = _with_tabs(contents, file_name)
    if not Sentences("pairs", text=text).lines:
        raise PairsError("no_pair_in_file", name=name)
    measurements.set_pairs(EvaluationText(name, text))


def _with_tabs(contents: bytes, name: str) -> str:
    """The rows of a file with tabs between their columns."""
    rows = ([" ".join(cell.split()) for cell in row] for row in lines_or_table(contents, name))
    return "".join("\t".join(row) + "\n" for row in rows)
