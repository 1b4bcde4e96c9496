"""The fields of a form that say on which sentences a model is measured."""

from collections.abc import Sequence

import streamlit as st

from explorer.app import model_cache
from explorer.app.state import heads as heads_state
from explorer.app.state import messages
from explorer.app.state.heads import EvaluationText
from explorer.app.widgets.file_uploader import file_uploader
from explorer.app.widgets.messages import literal
from explorer.core.errors import FileError
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten
from explorer.data.task_names import task_of
from explorer.heads import measurement_jobs
from explorer.heads.measurement_jobs import SOURCE_KINDS, Sentences, SourceKind
from explorer.model.catalog import CatalogModel


def kinds_for(model: CatalogModel) -> tuple[SourceKind, ...]:
    """Where sentences may come from; only a toy task generates new ones."""
    has_task = task_of(model_cache.model_of(model).facts) is not None
    return tuple(kind for kind in SOURCE_KINDS if has_task or kind != "task")


def lines_name(model: CatalogModel) -> str:
    """The name of the sentence that says what the targets of texts alone are, as in
    `BatchPasses.texts`."""
    sites = {head.site for head in model_cache.model_of(model).passes.heads}
    if "cross" in sites:
        return "lines"
    return "lines_next" if "decoder" in sites else "lines_masked"


def choose_kind(kinds: Sequence[str], language: str, prefix: str) -> str:
    """Where the sentences come from. prefix: of the keys of a form's widgets."""
    own = "" if "task" in kinds else "own-"
    chosen: str = st.radio(
        say("heads.source", language),
        kinds,
        format_func=lambda name: say(f"heads.source_{name}", language),
        key=f"{prefix}kind-{own}{language}",
    )
    return chosen


def sentence_fields(
    model: CatalogModel, kind: SourceKind, language: str, prefix: str, lines: str = ""
) -> Sentences:
    """The fields for sentences of this kind. lines: which stand there at first."""
    text, seed = "", 0
    with st.container(horizontal=True):
        size = choose_size(language, prefix)
        if kind == "task":
            seed = st.number_input(say("heads.seed", language), 0, 9999, 0, key=f"{prefix}seed")
    if kind == "lines":
        label = say(f"heads.{lines_name(model)}", language)
        hint = "\n".join(model.examples[:2])
        key = f"{prefix}lines" + (f"-{model.name}" if lines else "")
        text = st.text_area(label, lines, key=key, placeholder=hint)
    if kind == "pairs":
        text = _pairs(language, prefix)
    return Sentences(kind, size, int(seed), text)


def choose_size(language: str, prefix: str) -> int:
    """How many sentences, at most."""
    label, most = say("heads.size", language), measurement_jobs.MOST_SENTENCES
    return int(st.number_input(label, 1, most, 256, key=f"{prefix}size"))


def _pairs(language: str, prefix: str) -> str:
    """The sentence pairs of the file uploaded last."""
    label = say("heads.pairs", language)
    file_uploader(label, ("tsv", "txt"), language, _take_pairs, prefix=prefix, limit_mb=1)
    pairs = heads_state.pairs()
    if pairs.name:
        count = len(pairs.text.splitlines())
        st.caption(literal(say("heads.pairs_taken", language, name=pairs.name, count=count)))
    return pairs.text


def _take_pairs(file_name: str, contents: bytes) -> None:
    """Keep the text of a file, or report why not."""
    name = shorten(file_name)
    try:
        heads_state.set_pairs(EvaluationText(name, contents.decode("utf-8-sig")))
    except UnicodeDecodeError:
        messages.report(FileError("unreadable_file", name=name))
