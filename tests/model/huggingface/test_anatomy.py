from explorer.core.trace_size import SiteSize
from explorer.model.huggingface.anatomy import Anatomy, Kind, Place


def test_layers_and_heads_are_counted_by_site():
    encoder = tuple(Place("encoder", layer, layer, 3, 5) for layer in range(2))
    decoder = (Place("decoder", 0, 0, 4, 6), Place("cross", 0, 0, 4, 6))
    anatomy = Anatomy(Kind.ENCODER_DECODER, encoder, decoder)
    assert (anatomy.layers("encoder"), anatomy.heads("encoder")) == (2, 3)
    assert (anatomy.layers("cross"), anatomy.heads("cross")) == (1, 4)
    assert anatomy.layer_numbers() == {}


def test_the_layers_of_a_hybrid_keep_their_numbers():
    decoder = (Place("decoder", 0, 3, 4, 6), Place("decoder", 1, 7, 4, 6))
    anatomy = Anatomy(Kind.DECODER_ONLY, (), decoder)
    assert anatomy.layer_numbers() == {"decoder": [3, 7]}
    assert (anatomy.layers("encoder"), anatomy.heads("encoder")) == (0, 0)


def test_the_attention_of_a_text_is_known_before_it_runs():
    encoder = tuple(Place("encoder", layer, layer, 3, 5) for layer in range(2))
    decoder = (Place("decoder", 0, 3, 4, 6), Place("cross", 0, 3, 4, 6))
    anatomy = Anatomy(Kind.ENCODER_DECODER, encoder, decoder)
    assert anatomy.sizes(7, 9, full=False) == {
        "encoder": SiteSize((0, 1), 3, 7, 7),
        "decoder": SiteSize((3,), 4, 9, 9),
        "cross": SiteSize((3,), 4, 9, 7),
    }
    assert anatomy.sizes(7, 9, full=True)["cross"].width == 6
