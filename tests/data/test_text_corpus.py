import pytest

from explorer.core.errors import PairsError
from explorer.data.text_corpus import beginning, read_corpus
from tests.support.toy_sentences import SENTENCES, as_table

TEXTS = [source for source, _ in SENTENCES]


def test_the_texts_of_a_file_are_distinct_and_each_is_in_one_part(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{text}\n" for text in [*TEXTS, "", TEXTS[0]]), "utf-8")
    corpus = read_corpus(path)
    assert corpus.texts == tuple(TEXTS)
    assert corpus.rows == len(TEXTS) + 1
    parts = [corpus.part(name) for name in ("training", "dev", "test")]
    assert sorted(text for part in parts for text in part) == sorted(TEXTS)
    assert [len(part) for part in parts[1:]] == [len(TEXTS) // 20] * 2


def test_the_texts_may_be_a_column_of_a_table(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    assert read_corpus(path, "2").texts == tuple(target for _, target in SENTENCES)
    assert read_corpus(path).digest != read_corpus(path, "2").digest


def test_a_few_texts_are_refused(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("One.\nTwo.\n", "utf-8")
    with pytest.raises(PairsError, match="has 2 different texts; at least 100"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("text", "start", "rest"),
    [
        ("I see a dog here now.", "I see", "a dog here now."),
        ("I see.", "I", "see."),
        ("那只黑猫睡了", "那只", "黑猫睡了"),
        ("Yes", "Y", "es"),
    ],
)
def test_a_text_is_cut_after_a_third_of_its_words(text, start, rest):
    assert beginning(text) == (start, rest)
