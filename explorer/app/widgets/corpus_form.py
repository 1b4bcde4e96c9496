"""The form for one's own pairs of sentences: a file, its columns, and what to train on them."""

from functools import partial

import streamlit as st

from explorer.app.server import upload_guard
from explorer.app.state import train as train_state
from explorer.app.state.train import Brought, Survey
from explorer.app.uploads import describe_chooser, take_file, upload_key
from explorer.app.widgets.messages import complain, plain
from explorer.app.widgets.training_form import available_devices, choose_settings, offer_start
from explorer.core.errors import PairsError
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten
from explorer.data.column_guess import Rows, first_rows, is_numbers, looks_headed
from explorer.data.parallel_corpus import RowCounts, parse_pairs
from explorer.training.config import TrainingConfig, small_translation
from explorer.training.run_directory import PAIRS_FILE

_SHOWN_ROWS = 4
_LONGEST_CELL = 90


def pairs_form(language: str) -> tuple[TrainingConfig, Brought] | None:
    """The form; settings and file when the visitor starts them."""
    _choose_file(language)
    brought = train_state.brought()
    if brought is None:
        return None
    rows = first_rows(brought.data, brought.name)
    columns = _choose_columns(rows, language)
    _doubt_columns(rows, language)
    found = survey(brought, columns)
    with st.container(key="pairs-rows"):  # what is below keeps its place, and stays open
        _show_rows(rows[:_SHOWN_ROWS], language)
        if found.counts is not None:
            st.caption(_in_words(found.counts, brought, language))
        elif found.problem is not None:
            complain(found.problem, language)
    on_gpu = available_devices()[0] != "cpu"
    recipe = small_translation(PAIRS_FILE, columns or ("1", "2"), on_gpu=on_gpu)
    offer = st.container()
    with st.expander(say("train.pairs_settings", language)):
        chosen = choose_settings(recipe, train_state.PAIRS_FORM, language)
    with offer:
        config = offer_start(chosen, train_state.PAIRS_FORM, found.counts is not None, language)
    return (config, brought) if config is not None else None


def survey(brought: Brought, columns: tuple[str, str]) -> Survey:
    """What becomes of the rows of a file, read once for each choice of columns."""
    found = train_state.survey(columns)
    if found is None:
        try:
            found = Survey(parse_pairs(brought.data, brought.name, columns).counts, None)
        except PairsError as error:
            # A new one: what was raised keeps all that was read till then alive.
            found = Survey(None, PairsError(error.key, **error.facts))
        train_state.keep_survey(columns, found)
    return found


def _choose_file(language: str) -> None:
    """The door for the file; it is read at once and kept until another one comes."""
    describe_chooser(language)
    key, limit = f"{train_state.PAIRS_FORM}-{upload_key()}", upload_guard.LARGEST // 2**20
    st.file_uploader(
        say("train.pairs_upload", language, limit=limit),
        type=["tsv", "csv", "txt"],
        max_upload_size=limit,
        key=key,
        on_change=partial(_take, key),
    )
    st.caption(say("train.pairs_about", language))


def _take(key: str) -> None:
    if (file := take_file(key)) is not None:
        train_state.bring(Brought(*file))


def _choose_columns(rows: Rows, language: str) -> tuple[str, str]:
    """The columns of source and translation, by number or, where the first row has headings,
    by those."""
    headings = tuple(cell.strip() for cell in rows[0]) if rows else ()
    places = range(max([2, *map(len, rows)]))
    one, other, named = st.columns([2, 2, 2], vertical_alignment="bottom")
    chosen = []
    for side, (place, spot) in enumerate(zip(train_state.columns(), (one, other), strict=True)):
        chosen.append(
            spot.selectbox(
                say(f"train.pairs_{('source', 'target')[side]}", language),
                places,
                index=min(place, len(places) - 1),
                format_func=partial(_column_name, headings),
                key=f"{train_state.PAIRS_FORM}-column-{side}-{train_state.times_brought()}",
            )
        )
    by_heading = named.checkbox(
        say("train.pairs_headings", language),
        train_state.has_headings(),
        key=f"{train_state.PAIRS_FORM}-headings-{train_state.times_brought()}",
        help=say("train.pairs_headings_help", language),
    )
    train_state.choose_columns((chosen[0], chosen[1]), by_heading)
    if by_heading and max(chosen) < len(headings):
        return headings[chosen[0]], headings[chosen[1]]
    return str(chosen[0] + 1), str(chosen[1] + 1)


def _doubt_columns(rows: Rows, language: str) -> None:
    """One line on what looks wrong about the choice, if anything does; it is only a guess."""
    places = train_state.columns()
    doubts = [
        say("train.pairs_numbers", language, column=place + 1)
        for place in dict.fromkeys(places)
        if is_numbers(rows, place)
    ]
    if not train_state.has_headings() and looks_headed(rows, places):
        label = say("train.pairs_headings", language)
        doubts.append(say("train.pairs_headed", language, label=label))
    if doubts:
        st.warning(" ".join(doubts))


def _column_name(headings: tuple[str, ...], place: int) -> str:
    """ "2 · Le chat dort."."""
    first = headings[place] if place < len(headings) else ""
    return f"{place + 1} · {shorten(first)}" if first else str(place + 1)


def _show_rows(rows: Rows, language: str) -> None:
    """The first rows as they were read; nothing in them is Markdown."""
    if not rows:
        return
    width = max(map(len, rows))
    table_of_texts = {
        str(place + 1): [_cell(row[place]) if place < len(row) else "" for row in rows]
        for place in range(width)
    }
    st.table(table_of_texts, hide_index=True, alt=say("train.pairs_preview", language))


def _cell(text: str) -> str:
    return plain(text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}…")


def _in_words(counts: RowCounts, brought: Brought, language: str) -> str:
    """What becomes of the rows: none is dropped in silence."""
    return say(
        "train.pairs_counts",
        language,
        name=plain(shorten(brought.name)),
        rows=f"{counts.rows:,}",
        kept=f"{counts.kept:,}",
        duplicate=f"{counts.duplicate:,}",
        blank=f"{counts.blank:,}",
        incomplete=f"{counts.incomplete:,}",
    )
