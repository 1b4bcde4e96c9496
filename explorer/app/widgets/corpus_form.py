"""The form for a training on pairs that a visitor pastes or uploads: columns and settings."""

from functools import partial

import streamlit as st

from explorer.app.state import train as train_state
from explorer.app.state.train import CorpusCheck, UploadedCorpus
from explorer.app.widgets.file_uploader import LARGEST_MB, PAIRS_ENDINGS, file_uploader
from explorer.app.widgets.messages import literal, show_error
from explorer.app.widgets.training_form import available_devices, choose_settings, offer_start
from explorer.core.errors import PairsError
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten
from explorer.data.column_guess import (
    Rows,
    first_rows,
    is_numbers,
    looks_headed,
    prepared_mark,
)
from explorer.data.parallel_corpus import FEWEST_PAIRS, RowCounts, parse_pairs
from explorer.training.config import TrainingConfig, small_translation
from explorer.training.cost_estimate import pairs_size
from explorer.training.recorded_run import PAIRS_FILE

_SHOWN_ROWS = 4
_LONGEST_CELL = 90


def corpus_form(language: str) -> tuple[TrainingConfig, UploadedCorpus] | None:
    """Draw the form. Returns settings and corpus when the visitor starts them."""
    st.caption(say("train.pairs_about", language, least=FEWEST_PAIRS))
    _paste_box(language)
    label = say("train.pairs_upload", language, limit=LARGEST_MB)
    prefix = f"{train_state.CORPUS_FORM}-"
    file_uploader(label, PAIRS_ENDINGS, language, _take_corpus, prefix=prefix)
    corpus = train_state.corpus()
    if corpus is None:
        return None
    rows = first_rows(corpus.data, corpus.name)
    columns = _choose_columns(rows, language)
    _warn_about_columns(rows, language)
    checked = check(corpus, columns)
    with st.container(key="pairs-rows"):  # elements below keep their index, and stay open
        if checked.error is not None:
            show_error(checked.error, language)  # above the rows: a low window shows it, too
        _show_rows(rows[:_SHOWN_ROWS], language)
        if checked.counts is not None:
            st.caption(_counts_text(checked.counts, corpus, language))
    on_gpu = available_devices()[0] != "cpu"
    recipe = small_translation(PAIRS_FILE, columns or ("1", "2"), on_gpu=on_gpu)
    start = st.container()
    with st.expander(say("train.pairs_settings", language)):
        chosen = choose_settings(recipe, train_state.CORPUS_FORM, language)
    with start:
        has_data = checked.counts is not None
        config = offer_start(chosen, train_state.CORPUS_FORM, has_data, language, checked.size)
    return (config, corpus) if config is not None else None


def _paste_box(language: str) -> None:
    """A box whose text is taken as a file of pairs."""
    name = say("train.pairs_pasted", language)
    with st.form("pairs-paste", border=False):
        text = st.text_area(
            say("train.pairs_paste", language),
            key=f"{train_state.CORPUS_FORM}-pasted",
            height=140,
            placeholder=say("train.pairs_paste_example", language),
        )
        if st.form_submit_button(say("train.pairs_take", language), key="pairs-take"):
            _take_corpus(name, text.encode())


def check(corpus: UploadedCorpus, columns: tuple[str, str]) -> CorpusCheck:
    """Counts of the used rows of a corpus, computed once for each choice of columns."""
    found = train_state.check(columns)
    if found is None:
        try:
            parsed = parse_pairs(corpus.data, corpus.name, columns)
            found = CorpusCheck(parsed.counts, pairs_size(parsed.pairs), None)
        except PairsError as error:
            found = CorpusCheck(None, None, error.alone())
        train_state.save_check(columns, found)
    return found


def _take_corpus(file_name: str, contents: bytes) -> None:
    train_state.set_corpus(UploadedCorpus(file_name, contents))


def _choose_columns(rows: Rows, language: str) -> tuple[str, str]:
    """The columns of source and translation, by number or, with headings, by heading."""
    headings = tuple(cell.strip() for cell in rows[0]) if rows else ()
    columns = range(max([2, *map(len, rows)]))
    one, other, named = st.columns([2, 2, 2], vertical_alignment="bottom")
    chosen = []
    for side, (column, slot) in enumerate(zip(train_state.columns(), (one, other), strict=True)):
        chosen.append(
            slot.selectbox(
                say(f"train.pairs_{('source', 'target')[side]}", language),
                columns,
                index=min(column, len(columns) - 1),
                format_func=partial(_column_name, headings),
                key=f"{train_state.CORPUS_FORM}-column-{side}-{train_state.uploads()}",
            )
        )
    by_heading = named.checkbox(
        say("train.pairs_headings", language),
        train_state.has_headings(),
        key=f"{train_state.CORPUS_FORM}-headings-{train_state.uploads()}",
        help=say("train.pairs_headings_help", language),
    )
    train_state.choose_columns((chosen[0], chosen[1]), by_heading)
    if by_heading and max(chosen) < len(headings):
        return headings[chosen[0]], headings[chosen[1]]
    return str(chosen[0] + 1), str(chosen[1] + 1)


def _warn_about_columns(rows: Rows, language: str) -> None:
    """Warn about a choice of columns that looks wrong. It is a guess, and nothing is refused."""
    columns = train_state.columns()
    doubts = [
        say("train.pairs_numbers", language, column=column + 1)
        for column in dict.fromkeys(columns)
        if is_numbers(rows, column)
    ]
    doubts += [
        say("train.pairs_prepared", language, column=column + 1, mark=mark)
        for column in dict.fromkeys(columns)
        if (mark := prepared_mark(rows, column))
    ]
    if not train_state.has_headings() and looks_headed(rows, columns):
        label = say("train.pairs_headings", language)
        doubts.append(say("train.pairs_headed", language, label=label))
    if doubts:
        st.warning(" ".join(doubts))


def _column_name(headings: tuple[str, ...], column: int) -> str:
    """ "2 · Le chat dort."."""
    first = headings[column] if column < len(headings) else ""
    return f"{column + 1} · {shorten(first)}" if first else str(column + 1)


def _show_rows(rows: Rows, language: str) -> None:
    """Draw the first rows as they were read, literally."""
    if not rows:
        return
    width = max(map(len, rows))
    table_of_texts = {
        str(column + 1): [_cell(row[column]) if column < len(row) else "" for row in rows]
        for column in range(width)
    }
    st.table(table_of_texts, hide_index=True, alt=say("train.pairs_preview", language))


def _cell(text: str) -> str:
    return literal(text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…")


def _counts_text(counts: RowCounts, corpus: UploadedCorpus, language: str) -> str:
    """Sentence with the number of rows used, and of rows left out by reason."""
    return say(
        "train.pairs_counts",
        language,
        name=literal(shorten(corpus.name)),
        rows=f"{counts.rows:,}",
        kept=f"{counts.kept:,}",
        duplicate=f"{counts.duplicate:,}",
        blank=f"{counts.blank:,}",
        incomplete=f"{counts.incomplete:,}",
    )
