import torch

from explorer.model.huggingface.capture.module_hooks import hooked
from explorer.model.huggingface.capture.passes import full_pass
from explorer.model.huggingface.capture.verification import probe
from explorer.model.huggingface.streams.call_reader import CallReader, reading_hooks
from explorer.model.huggingface.streams.stream_calls import AttentionCall, NormCall


def read(model, *, attention=True):
    inputs = probe(model.model, model.kind, model.tokens.size, model.positions)
    reader, anatomy = CallReader(attention=attention), model.anatomy
    seen = {
        stack: lambda index, call, places=places: reader.attended(places, index, call)
        for stack, places in (("encoder", anatomy.encoder), ("decoder", anatomy.decoder))
    }
    with torch.no_grad(), hooked(reading_hooks(model.model, reader)):
        full_pass(model.model, anatomy, inputs, seen=seen)
    return reader


def kinds(events):
    return ["end" if one is None else type(one).__name__ for one in events]


def test_norms_and_attention_are_in_the_order_of_the_pass(opened):
    reader = read(opened("gpt2"))
    layer = [NormCall.__name__, AttentionCall.__name__, NormCall.__name__]
    assert kinds(reader.events) == [*layer * 3, NormCall.__name__]
    assert len(reader.embedded) == 2  # tokens and positions
    both = read(opened("bart"))
    assert kinds(both.events).count("end") == kinds(both.embedded).count("NoneType") + 1 == 1


def test_norms_of_single_heads_are_left_out(opened):
    events = read(opened("qwen3")).events
    assert {one.module.weight.numel() for one in events if isinstance(one, NormCall)} == {24}


def test_the_linear_layer_of_queries_and_keys_is_known_where_it_alone_makes_them(opened):
    for name in ("gpt2", "bart", "llama"):
        for call in read(opened(name)).events:
            if isinstance(call, AttentionCall):
                assert call.queries is not None
                assert call.keys is not None
                assert call.projection is not None
                turned = [one.turn is not None for one in (call.queries, call.keys)]
                assert turned == [name == "llama"] * 2  # by their positions
    normed = [one for one in read(opened("qwen3")).events if isinstance(one, AttentionCall)]
    assert all(one.queries is None and one.keys is None for one in normed)


def test_weights_are_not_kept_where_they_are_not_asked_for(opened):
    events = read(opened("gpt2"), attention=False).events
    assert all(not len(one.call.weights) for one in events if isinstance(one, AttentionCall))
