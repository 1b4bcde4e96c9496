import torch

from explorer.model.points import Point, kept
from explorer.model.transformer_run import acting, hook_path, run
from tests.support.tiny_configs import ALONE

SOURCE = torch.tensor([[3, 4, 5, 2], [6, 2, 0, 0]])
TARGET = torch.tensor([[1, 6, 7], [1, 8, 0]])
CALLED = ("input", "sublayer_input", "sublayer_output", "output", "heads", "pattern", "mask")


def test_every_hook_point_of_a_layer_and_of_a_stack_is_a_point(make_model):
    config = make_model().config
    of_attention = (*CALLED, "scores", "query_vectors", "key_vectors", "values")
    found = {hook_path(Point(kind, *place)) for kind in of_attention for place in config.attentions}
    of_layer = ("feed_forward_hidden", "feed_forward_output", "residual")
    for stack, layers in (("encoder", 2), ("decoder", 3)):
        found |= {hook_path(Point(kind, stack, n)) for kind in of_layer for n in range(layers)}
        of_stack = ("token_vectors", "position_vectors", "embedding", "stack_output")
        found |= {hook_path(Point(kind, stack)) for kind in of_stack}
    others = {path for path in make_model().hook_points if path not in found}
    around = {path.rpartition(".")[0].rpartition(".")[2] for path in others}
    assert around == {"around_feed_forward", "logits"}
    assert found <= set(make_model().hook_points)


@torch.no_grad()
def test_rows_of_copies_are_those_of_the_sentences_in_turn(make_model):
    model = make_model()
    plain = model(SOURCE, TARGET)
    heads = Point("heads", "cross", 1)
    scale = torch.tensor([1.0, 1.0, 0.0, 0.5])[:, None, None, None]
    logits = run(model, SOURCE, TARGET, {heads: lambda value: value * scale}, copies=2)
    assert (logits.rows, logits.width) == (3, model.config.target_vocabulary)
    found = logits.whole()
    torch.testing.assert_close(found[:2], plain)
    assert ((found[2:] - plain).abs().amax((1, 2)) > 1e-3).all()
    torch.testing.assert_close(
        logits.picked(torch.tensor([2, 0, 1, 1])), found[range(4), [2, 0, 1, 1]]
    )


@torch.no_grad()
def test_the_encoder_runs_once_for_all_copies_unless_it_is_changed(make_model):
    model = make_model()
    readers, values = kept([Point("heads", "encoder", 0), Point("heads", "decoder", 0)])
    of_decoder = {Point("heads", "decoder", 1): torch.zeros_like}
    run(model, SOURCE, TARGET, of_decoder, readers, copies=3)
    assert [len(value) for value in values.values()] == [2, 6]
    run(model, SOURCE, TARGET, {Point("heads", "encoder", 1): torch.zeros_like}, readers, copies=3)
    assert [len(value) for value in values.values()] == [6, 6]


@torch.no_grad()
def test_a_masked_step_and_the_whole_pass_agree(make_model):
    """The mask is changed on the fused kernel, whole and step by step: key 1 for every query."""
    model = make_model(ALONE)

    def without_key_1(mask):
        changed = mask.clone()
        changed[..., 1:2] = changed[..., 1:2] & (mask.sum(-1, keepdim=True) == 2)  # but for itself
        return changed

    points = {Point("mask", *place): without_key_1 for place in model.config.attentions}
    target = torch.tensor([[1, 6, 7, 8]])
    source = torch.empty(1, 0, dtype=torch.long)
    whole = run(model, source, target, points).whole()
    memory = model.encode(source, torch.ones(1, 1, 1, 0).bool())
    cache = model.start(memory, torch.ones(1, 1, 1, 0).bool())
    with acting(model, points):
        steps = [model.step(target[:, step], cache) for step in range(4)]
    torch.testing.assert_close(torch.stack(steps, 1), whole, atol=1e-5, rtol=0)
    assert (whole - run(model, source, target).whole())[0, 3].abs().max() > 1e-4
