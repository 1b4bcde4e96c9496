from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.inputs import Inputs, padded_inputs


def rows(inputs):
    parts = (inputs.source, inputs.source_mask, inputs.target, inputs.target_mask)
    return [None if part is None else part[0].tolist() for part in parts]


def test_padding_stands_where_no_continuation_follows():
    both = padded_inputs(Kind.ENCODER_DECODER, [5, 6], [1], start=2)
    assert rows(both) == [[5, 6, 1], [1, 1, 0], [2], [1]]
    decoder = padded_inputs(Kind.DECODER_ONLY, [5, 6], [1], start=2)
    assert rows(decoder) == [None, None, [1, 5, 6], [0, 1, 1]]
    encoder = padded_inputs(Kind.ENCODER_ONLY, [5, 6], [1], start=2)
    assert rows(encoder) == [[5, 6, 1], [1, 1, 0], None, None]


def test_segments_stand_beside_their_tokens():
    pair = padded_inputs(Kind.ENCODER_ONLY, [5, 6, 7], [1], start=2, segments=[0, 1, 1])
    assert pair.segments[0].tolist() == [0, 1, 1, 0]
    assert pair.without_padding().segments[0].tolist() == [0, 1, 1]
    assert pair.repeated(2).segments.tolist() == [[0, 1, 1, 0]] * 2
    assert padded_inputs(Kind.ENCODER_ONLY, [5, 6], [1], start=2).segments is None


def test_sequences_of_equal_lengths_are_joined():
    one, other = (padded_inputs(Kind.ENCODER_DECODER, ids, (), 1) for ids in ([5, 6], [7, 8]))
    both = Inputs.joined([one, other])
    assert both.source.tolist() == [[5, 6], [7, 8]]
    assert both.source_mask.tolist() == [[1, 1], [1, 1]]
    assert both.target.tolist() == [[1], [1]]
    assert both.segments is None
    assert Inputs.joined([one]) is one


def test_decoded_tokens_are_added_and_padding_is_taken_away():
    decoder = padded_inputs(Kind.DECODER_ONLY, [5, 6], [1, 1], start=2).with_target([8, 9])
    assert rows(decoder) == [None, None, [1, 1, 5, 6, 8, 9], [0, 0, 1, 1, 1, 1]]
    assert rows(decoder.without_padding()) == [None, None, [5, 6, 8, 9], [1, 1, 1, 1]]
    both = padded_inputs(Kind.ENCODER_DECODER, [5, 6], [1], start=2)
    assert rows(both.without_padding()) == [[5, 6], [1, 1], [2], [1]]
