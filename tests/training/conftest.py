"""Fixtures of the tests of trainings."""

from dataclasses import replace

import pytest

from explorer.training.trainer import Trainer
from tests.support.toy_sentences import TINY_PAIRS, as_table


@pytest.fixture(scope="package")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """A finished training on sentences and their translations."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(path)))
    for _ in trainer.run():
        pass
    return trainer
