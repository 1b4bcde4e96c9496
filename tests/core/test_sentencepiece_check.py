import pytest

from explorer.core import sentencepiece_check
from explorer.core.errors import VocabularyError
from explorer.core.sentencepiece_check import refuse_harmful
from explorer.core.sentencepiece_vocabulary import learn_pieces
from tests.support.toy_sentences import SENTENCES


@pytest.fixture(scope="module")
def proto() -> bytes:
    return learn_pieces([text for pair in SENTENCES for text in pair], 400).proto


def test_a_sound_model_passes(proto):
    refuse_harmful(proto, "x")


@pytest.mark.parametrize("damage", [b"", b"\x0a\xff\xff\xff\xff\x0f", b"x" * 1000])
def test_a_damaged_model_is_refused_with_the_sentence_of_the_parser(damage):
    with pytest.raises(VocabularyError) as caught:
        refuse_harmful(damage, "x")
    assert caught.value.key in ("damaged_pieces", "foreign_pieces")


UNKNOWN_FIELD = b"\xc2\x3e\x80\x80\x80\x04" + bytes(2**23)
"""Field 1000 with 8 MB, which a parser keeps."""


def test_a_model_that_takes_more_memory_than_a_child_may_have_is_refused(proto, monkeypatch):
    refuse_harmful(proto + UNKNOWN_FIELD, "x")
    monkeypatch.setattr(sentencepiece_check, "MEMORY", 2**22)
    with pytest.raises(VocabularyError) as caught:
        refuse_harmful(proto + UNKNOWN_FIELD, "x")
    assert caught.value.key == "slow_pieces"


@pytest.mark.parametrize(("limit", "value"), [("SECONDS", 0.001), ("LARGEST_PIECES", 100)])
def test_a_model_over_a_limit_is_refused(limit, value, proto, monkeypatch):
    monkeypatch.setattr(sentencepiece_check, limit, value)
    with pytest.raises(VocabularyError) as caught:
        refuse_harmful(proto, "x.safetensors")
    assert caught.value.key == "slow_pieces"
    assert "x.safetensors" in caught.value.in_language("zh")
