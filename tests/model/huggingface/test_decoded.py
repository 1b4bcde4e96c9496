from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.decoded import Decoded
from explorer.model.huggingface.inputs import padded_inputs


def test_the_facts_count_the_prompt_and_name_what_was_forced():
    inputs = padded_inputs(Kind.DECODER_ONLY, [5, 6, 7], [0], start=0).with_target([8, 9])
    decoded = Decoded(inputs, chosen=(8, 9, 2), forced={5: 9})
    assert decoded.facts(Kind.DECODER_ONLY, frozenset([2])) == {
        "forced": {"5": 9},
        "ended": True,
        "prompt": 4,
    }
    assert not decoded.facts(Kind.DECODER_ONLY, frozenset([9]))["ended"]


def test_an_encoder_decodes_nothing():
    inputs = padded_inputs(Kind.ENCODER_ONLY, [5, 6], [], start=0)
    assert Decoded(inputs).facts(Kind.ENCODER_ONLY, frozenset()) == {"forced": {}}
