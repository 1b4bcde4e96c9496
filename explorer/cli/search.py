"""`search`: the sentences of a corpus in which a head puts most weight on what is chosen."""

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import (
    add_job_options,
    add_languages,
    add_model,
    as_job,
    check_report,
    comma_list,
    opened,
    pair_columns,
    progress_bar,
    progress_writer,
    refuse_seed,
    whole_number,
)
from explorer.core.errors import ConfigError

if TYPE_CHECKING:
    from explorer.heads.search.index_building import Corpus
    from explorer.model.measurable import MeasurableModel

_PRINTED = ["weight", "query_token", "key_token", "source", "target"]
_AS_JSON: dict[str, Any] = {"orient": "records", "force_ascii": False, "indent": 1}
_QUESTION = ("query", "key", "offset", "part", "out")


def add_parser(commands: Any) -> None:
    command = commands.add_parser("search", help="find the sentences in which a head fires")
    command.set_defaults(run_command=as_job(_search))
    add_model(command)
    command.add_argument(
        "--pairs", type=Path, help="a table of sentences and translations, which are given"
    )
    command.add_argument("--columns", type=comma_list, help="of that file, as in `measure`")
    command.add_argument(
        "--texts", type=Path, help="one text a line; without a file, sequences of the toy task"
    )
    command.add_argument(
        "--sentences",
        type=whole_number,
        default=5000,
        help="how many, spread evenly over the file (default: 5000)",
    )
    command.add_argument("--seed", type=int, default=0, help="of the task's generator (default: 0)")
    add_languages(command)
    command.add_argument(
        "--index",
        type=Path,
        help="the file of the index, which is built if it is missing (default: one for each model "
        "and corpus in the folder findings)",
    )
    command.add_argument(
        "--least", type=float, help="the smallest weight that the file keeps, such as 0.1"
    )
    command.add_argument(
        "--head", help="such as cross.1.2, counted from 0; without it, the index is built alone"
    )
    command.add_argument("--query", help="the token of the query, with or without the mark ▁")
    command.add_argument("--key", help="the token of the key")
    command.add_argument(
        "--offset", type=whole_number, help="of the key from the query, such as -1 (the one before)"
    )
    command.add_argument(
        "--part", help="what the key is: end, special, content, punctuation or same token"
    )
    command.add_argument("--top", type=whole_number, default=20, help="rows (default: 20)")
    command.add_argument(
        "--out", type=Path, help="x.csv or x.json, with positions and links; without it, a table"
    )
    add_job_options(command)


def _search(options: argparse.Namespace) -> int:
    from explorer.core.files import replace_atomically
    from explorer.core.i18n import say
    from explorer.heads.reports.report_files import delete_oldest
    from explorer.heads.search.index_building import attention_index

    _refuse(options)
    write_progress = progress_writer(options.progress)
    model = opened(options)
    corpus = _corpus(model, options)
    path = options.index or _usual_path(model, corpus)
    with nullcontext(write_progress) if path.exists() else progress_bar(write_progress) as show:
        index = attention_index(model, corpus, path, show, options.least or 0.0)
    if options.index is None:
        delete_oldest(path.parent.parent, path.name)
    if options.head is None:
        print(f"{path}: heads: {len(index.heads)}, sentences: {len(index)}")
        return 0
    found = index.search(
        options.head,
        tokens=(options.query, options.key),
        offset=options.offset,
        part=options.part,
        top=options.top,
    )
    if options.out is None and found.empty:
        print(say("heads.search_nothing", "en", least=f"{index.least:.1g}"))
        return 0
    if options.out is None:
        print(found[_PRINTED].to_string(index=False, float_format="{:.3f}".format))
        return 0
    is_csv = options.out.suffix == ".csv"
    text = found.to_csv(index=False) if is_csv else found.to_json(**_AS_JSON)
    replace_atomically(options.out, text.encode())
    print(f"{options.out}: {options.head} (sentences: {len(found)} of {len(index)})")
    return 0


def _refuse(options: argparse.Namespace) -> None:
    """Raise `ExplorerError` on options that work with no model."""
    check_report(options.out, (options.model, options.pairs, options.texts, options.index))
    if options.pairs is not None and options.texts is not None:
        raise ConfigError("texts_and_pairs")
    for name in _QUESTION:
        if options.head is None and getattr(options, name) is not None:
            raise ConfigError("only_with", name=name, needed="--head")
    if options.least is not None and options.index is None:
        raise ConfigError("only_with", name="least", needed="--index")
    if options.least is not None and not 0 <= options.least <= 1:
        raise ConfigError("bad_number", name="--least", got=options.least, least=0, most=1)
    if options.sentences < 1:
        raise ConfigError("no_whole_number", name="--sentences", got=options.sentences, least=1)
    refuse_seed(options.seed)


def _corpus(model: "MeasurableModel", options: argparse.Namespace) -> "Corpus":
    """The texts or pairs that the options name; some of a longer file, evenly spread."""
    from explorer.data.parallel_corpus import read_rows, read_sources
    from explorer.heads.search.index_building import Corpus

    if options.pairs is not None:
        columns = pair_columns(options.pairs, options.columns)
        rows = read_rows(options.pairs, columns)
        pairs = list(dict.fromkeys((row.source, row.target) for row in rows))
        return Corpus.of(model, _spread(pairs, options.sentences), options.pairs.name)
    if options.texts is not None:
        texts = list(dict.fromkeys(read_sources(options.texts)))
        return Corpus.of(model, _spread(texts, options.sentences), options.texts.name)
    return Corpus.of_task(model, options.sentences, options.seed)


def _spread(given: list[Any], most: int) -> list[Any]:
    """At most so many entries of a list, evenly spread over it."""
    count = min(most, len(given))
    return [given[number * len(given) // count] for number in range(count)]


def _usual_path(model: "MeasurableModel", corpus: "Corpus") -> Path:
    """Where the index of a model and a corpus is, unless a person names a file."""
    from explorer.core.files import writing
    from explorer.heads.reports.report_files import REPORT_FILES, measured_folder

    folder = measured_folder(model.digest, "index") / corpus.digest
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder / REPORT_FILES["index"]
