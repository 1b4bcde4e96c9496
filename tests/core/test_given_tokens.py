import random
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from sentencepiece.sentencepiece_pb2 import SentencePieceText

from explorer.core.alignment import align_words
from explorer.core.errors import AlignmentError
from explorer.core.given_tokens import (
    align_tokens,
    pair_pieces,
    refuse_other_tokens,
    split_tokens,
    token_pieces,
)
from explorer.core.sentencepiece_vocabulary import PieceVocabulary, tidy
from explorer.core.trace import Trace
from explorer.core.word_segmentation import spaced
from explorer.heads.alignment.forced_traces import forced_traces
from explorer.model.explorable import ExplorableModel, load

ROOT = Path(__file__).parent.parent.parent
ODD = (
    "Ｈｅｌｌｏ，　ｗｏｒｌｄ！",  # full-width letters, punctuation and space
    "ﬁn … ½ ℃ №",  # characters that decompose into several
    "cafe\u0301 e\u0323\u0301 e\u0301\u0323",  # combining marks in both orders
    "한국어 각",  # Hangul, composed and as jamo
    "👩\u200d👩\u200d👧 👍🏽 🇫🇷",  # joined emoji, as bytes
    "كِتَاب שָׁלוֹם",  # vowel points
    "10\u202f000\u00a0€ l’homme d'été !",  # no-break spaces
    "𠮷野家で 𝒳",  # beyond the basic plane
    "co\u00adop İstanbul STRASSE ß",  # soft hyphen, case folding to several characters
    "a▁b <0xE4> </x>",  # marks of vocabularies as text
)


@pytest.fixture(scope="module", params=["english-french", "chinese-english"])
def translator(request: pytest.FixtureRequest) -> ExplorableModel:
    return load(ROOT / "checkpoints" / f"{request.param}.safetensors")


@pytest.fixture(scope="module")
def vocabulary() -> PieceVocabulary:
    found = load(ROOT / "checkpoints" / "chinese-english.safetensors").source_vocabulary
    assert isinstance(found, PieceVocabulary)
    return found


def traced(source: list[str], fed: list[str], rows: list[list[float]]) -> Trace:
    """A trace of one head."""
    weights = np.array(rows, dtype=np.float32)[None, None]
    return Trace.from_arrays(source, fed, cross=weights, predicted_tokens=[*fed[1:], "<eos>"])


def test_a_source_piece_of_two_tokens_shares_its_weight_by_characters() -> None:
    """我昨天 is 1/3 我 and 2/3 昨天."""
    trace = traced(
        ["▁我昨天", "来", "了", "<eos>"],
        ["<bos>", "▁I", "▁came"],
        [[0.6, 0.1, 0.1, 0.2], [0.3, 0.15, 0.15, 0.4], [0.9, 0.0, 0.0, 0.1]],
    )
    pieces = pair_pieces(trace, ("我", "昨天", "来了"), ("I", "came"))
    source, _ = pieces
    assert source.pieces.tolist() == [0, 0, 1, 2]
    assert source.shares.tolist() == pytest.approx([1 / 3, 2 / 3, 1, 1])
    # I:    我 .6/3 = .2, 昨天 .4, 来了 .2;   came: .1, .2, .3
    assert align_tokens(trace, 0, 0, "prediction", *pieces) == {(1, 0), (2, 1)}
    # I as input: .1, .2, .3;   came as input: .3, .6, 0
    assert align_tokens(trace, 0, 0, "input", *pieces) == {(2, 0), (1, 1)}


def test_a_target_row_of_two_tokens_counts_for_each_by_characters() -> None:
    """The token bc has half of the row of "ab" and the whole of "c": their weighted mean."""
    rows = [[0.1, 0.9], [0.6, 0.4], [0.5, 0.5]]
    trace = traced(["▁x", "▁y"], ["<bos>", "▁ab", "c"], rows)
    pieces = pair_pieces(trace, ("x", "y"), ("a", "bc"))
    _, target = pieces
    assert target.pieces.tolist() == [1, 1, 2]
    assert target.shares.tolist() == [0.5, 0.5, 1]
    # prediction: a from row 0: y;   bc: (.05 + .6) / 1.5 = .43, (.45 + .4) / 1.5 = .57: y
    assert align_tokens(trace, 0, 0, "prediction", *pieces) == {(1, 0), (1, 1)}
    # input: a from row 1: x;   bc: (.3 + .5) / 1.5 = .53, (.2 + .5) / 1.5 = .47: x
    assert align_tokens(trace, 0, 0, "input", *pieces) == {(0, 0), (0, 1)}
    rows = [[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]
    trace = traced(["▁x", "▁y"], ["<bos>", "▁ab", "c"], rows)
    # bc: (.05 + .8) / 1.5 = .57, (.45 + .2) / 1.5 = .43: x, although "ab" alone says y
    assert align_tokens(trace, 0, 0, "prediction", *pieces) == {(1, 0), (0, 1)}


def test_a_piece_without_characters_belongs_to_the_token_that_follows() -> None:
    found = token_pieces(("▁a", "▁", "我", "▁", "<eos>"), ("a", "我"), "▁")
    assert found.pieces.tolist() == [0, 1, 2, 3]  # the last one to the last token
    assert [token.start for token in found.tokens] == [0, 1]
    assert set(found.shares) == {1.0}


def test_the_bytes_of_a_character_belong_to_its_token() -> None:
    labels = ("▁", "<0xE4>", "<0xBD>", "<0xA0>", "好", "<eos>")
    found = token_pieces(labels, ("你", "好"), "▁")
    assert [(token.start, token.stop) for token in found.tokens] == [(0, 4), (4, 5)]


@pytest.mark.parametrize("text", ODD)
def test_odd_characters_do_not_break_the_mapping(text: str, vocabulary: PieceVocabulary) -> None:
    """Tokens in any normal form; every piece is shared out once."""
    labels = (*vocabulary.labels(vocabulary.encode(text)), "<eos>")
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        tokens = unicodedata.normalize(form, " ".join(text.split())).split(" ")
        refuse_other_tokens(text, tokens)
        found = token_pieces(labels, tokens, "▁")
        per_piece = np.bincount(found.pieces, found.shares, minlength=len(labels))
        assert per_piece == pytest.approx([1.0] * (len(labels) - 1) + [0.0])


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_those_of_the_characters_that_sentencepiece_reports(
    seed: int, vocabulary: PieceVocabulary
) -> None:
    """Random texts, cut into tokens anywhere; the oracle is SentencePiece's own offsets."""
    generator = random.Random(seed)
    letters = "我昨天在学校你好的 the cat's, “12.5” été ça 。！？"
    text = tidy("".join(generator.choice(letters) for _ in range(60)))
    text = f"x{text}" if not text[0].isalnum() else text
    visible = [position for position, letter in enumerate(text) if letter != " "]
    cuts = sorted(generator.sample(visible[1:], 12))
    ends = [*cuts, len(text)]
    tokens = [text[start:end] for start, end in zip([0, *cuts], ends, strict=True)]
    labels = (*vocabulary.labels(vocabulary.encode(text)), "<eos>")
    found = token_pieces(labels, tokens, "▁")
    expected = np.zeros((len(labels), len(tokens)))
    proto = SentencePieceText.FromString(
        vocabulary._pieces.encode(text, out_type="serialized_proto")
    )
    owner = [sum(position >= cut for cut in cuts) for position in range(len(text))]
    for number, piece in enumerate(proto.pieces):
        begin, end = (len(text.encode()[:at].decode()) for at in (piece.begin, piece.end))
        own = [owner[at] for at in range(begin, end) if text[at] != " "]
        for token in own:
            expected[number, token] += 1 / len(own)
    shares = np.zeros_like(expected)
    for token, word in enumerate(found.tokens):
        shares[found.pieces[word.start : word.stop], token] = found.shares[word.start : word.stop]
    spelled = expected.sum(1) > 0  # bytes share one offset, and "▁" alone spells nothing
    assert spelled.sum() > 10
    assert shares[spelled] == pytest.approx(expected[spelled])


SENTENCES = (
    "I do n't like Mr. Brown 's 15 cats .",
    "Je n' aime pas les 15 chats de M. Brown .",
    "我 昨天 在 学校 看 书 。",
    *(" ".join(text.split()) for text in ODD if "▁" not in text and "\u200d" not in text),
)


@pytest.mark.parametrize("timing", ["prediction", "input"])
def test_tokens_between_spaces_give_the_links_of_whitespace(
    translator: ExplorableModel, timing: str
) -> None:
    generator = random.Random(7)
    pairs = [(generator.choice(SENTENCES), generator.choice(SENTENCES)) for _ in range(12)]
    config = translator.transformer.config
    for number, trace in forced_traces(translator, pairs):
        pieces = pair_pieces(trace, *(tidy(text).split(" ") for text in pairs[number]))
        for layer in range(config.decoder_layers):
            for head in (*range(config.heads), None):
                given = align_tokens(trace, layer, head, timing, *pieces)
                assert given == align_words(trace, layer, head, timing, spaced)


@pytest.mark.parametrize(
    ("text", "tokens", "sentence"),
    [
        ("I don't know.", "I donot know .", "goes on with “don't know.”, its tokens with “donot”"),
        ("I know.", "I know", "goes on with “.”, its tokens with “”"),
        ("I know", "I know .", "goes on with “”, its tokens with “.”"),
        ("I know", "", "goes on with “I know”, its tokens with “”"),
    ],
)
def test_tokens_that_do_not_spell_the_text_are_refused(
    text: str, tokens: str, sentence: str
) -> None:
    with pytest.raises(AlignmentError, match=sentence):
        refuse_other_tokens(text, split_tokens(tokens))


def test_a_token_that_nothing_spells_is_refused() -> None:
    with pytest.raises(AlignmentError, match="reads nothing of the token"):
        token_pieces(("▁a", "▁b"), ("a", "\u00a0", "b"), "▁")
    with pytest.raises(AlignmentError, match="the model reads “c”"):
        token_pieces(("▁a", "▁c"), ("a", "b"), "▁")


def test_only_plain_spaces_separate_tokens() -> None:
    assert split_tokens("10\u202f000  €\u00a0!") == ("10\u202f000", "€\u00a0!")
