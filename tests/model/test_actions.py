import copy
import re
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import ConfigError, InterventionError, MaskError
from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.core.verbs import CellEdit, RowOverride
from explorer.core.vocabulary import BOS, EOS
from explorer.model.actions import MeanOutputs, gate_actions, head_gates
from explorer.model.explorable import ExplorableModel
from explorer.model.hooks import MODULES, path, recorded
from explorer.model.transformer import CrossAttention, SelfAttention
from explorer.model.transformer_run import acting, transformer_actions

HEADS = [Head("encoder", 0, 0), Head("encoder", 0, 1), *(Head("cross", 0, h) for h in range(3))]
MEANS = MeanOutputs(
    "some", {("encoder", 0): torch.ones(2, 4), ("cross", 0): torch.full((3, 4), 2.0)}
)


def test_removed_heads_have_gate_0():
    gates, fills = head_gates(Interventions.gather(ablate=[("encoder", 0, 1)]), HEADS)
    assert gates.tolist() == [[1, 0, 1, 1, 1]]
    assert fills is None
    gates, _ = head_gates(Interventions.gather(keep=[("cross", 0, 2)]), HEADS)
    assert gates.tolist() == [[1, 1, 0, 0, 1]]


def test_a_mean_takes_the_place_of_the_heads_that_ask_for_it():
    done = Interventions.gather(ablate=[("cross", 0, 0, "mean"), ("cross", 0, 1)])
    gates, fills = head_gates(done, HEADS, MEANS)
    assert gates.tolist() == [[1, 1, 0, 0, 1]]
    assert fills["cross", 0][:, 0].tolist() == [2, 0, 0]
    assert not fills["encoder", 0].any()
    assert repr(MEANS) == "MeanOutputs('some', 2 layers)"


def test_what_cannot_be_done_is_refused():
    for done, key in [
        (Interventions.gather(ablate=[("cross", 0, 0, "mean")]), "no_means"),
        (Interventions.gather(ablate=HEADS), "nothing_left"),
        (Interventions.gather(ablate=[("decoder", 0, 0)]), "no_such_site"),
        (Interventions.gather(keep=[("cross", 1, None)]), "no_such_head"),
        (Interventions.gather(edit_mask=[("cross", None, -1, 0, 0)]), "no_such_head"),
        (Interventions.gather(override_row=[("encoder", 0, 2, 0, [1])]), "no_such_head"),
    ]:
        with pytest.raises(InterventionError) as caught:
            head_gates(done, HEADS)
        assert caught.value.key == key


SOURCE = torch.tensor([[3, 4, 5, 2]])
TARGET = torch.tensor([[1, 6, 7]])


def applied(model, interventions, means=None):
    return acting(model, transformer_actions(interventions, model.config, means))


EVERYWHERE = (  # all kinds at once, in every site
    "ablate cross.1.2",
    "ablate encoder.0.0",
    "keep decoder.0.1",
    "keep decoder.1.0",
    "close cross.0.1 2 0",
    "close decoder.*.* 2 0",
    "close encoder.0.* 1 3",
    "row decoder.1.0 1 0.75,0.25",
    "row cross.1.0 1 0,1,3",
    "row encoder.0.1 2 1,1",
)


def test_the_path_of_a_head_is_that_of_its_module(make_model):
    config = make_model().config
    assert len(config.attentions) == 2 + 3 + 3
    assert len(config.all_heads) == 7 * 8
    assert set(MODULES) == {site for site, _ in config.attentions}
    for site, layer in config.attentions:
        assert path(site, layer, "head_output") in make_model().hook_points


@pytest.mark.parametrize(("site", "layer", "head"), [("encoder", 1, 3), ("decoder", 2, 0)])
@torch.no_grad()
def test_removing_a_head_equals_zeroing_its_columns_of_the_output_matrix(
    make_model, site, layer, head
):
    model, other = make_model(), make_model()
    with applied(model, Interventions.gather(ablate=[(site, layer, head)])):
        removed = model(SOURCE, TARGET)
    width = other.config.head_width
    weight = other.get_submodule(MODULES[site].format(layer)).output.weight
    weight[:, head * width : (head + 1) * width] = 0
    torch.testing.assert_close(removed, other(SOURCE, TARGET), rtol=0, atol=2e-6)
    assert (removed - model(SOURCE, TARGET)).abs().max() > 1e-3


@torch.no_grad()
def test_keeping_heads_equals_removing_the_others_of_their_site(make_model):
    model = make_model()
    kept = [("cross", 0, 1), ("cross", 2, 5)]
    others = [head for head in model.config.all_heads if head.site == "cross"]
    others = [head for head in others if head not in kept]
    with applied(model, Interventions.gather(keep=kept)):
        one = model(SOURCE, TARGET)
    with applied(model, Interventions.gather(ablate=others)):
        assert torch.equal(model(SOURCE, TARGET), one)


@torch.no_grad()
def test_the_output_of_a_head_ablated_by_its_mean_is_that_mean(make_model):
    model = make_model()
    outputs = {place: torch.randn(7, 6) for place in model.config.attentions}
    means = MeanOutputs("some", outputs)
    done = Interventions.gather(ablate=[("cross", 1, 2, "mean"), ("cross", 1, 3)])
    with applied(model, done, means), recorded(model, "*.head_output") as values:
        model(SOURCE, TARGET)
    output = values["decoder.layers.1.cross_attention.head_output"]  # (B, H, T, K)
    torch.testing.assert_close(output[0, 2], means.outputs["cross", 1][2].expand(3, -1))
    assert not output[0, 3].any()
    assert output[0, 4].any()


@torch.no_grad()
def test_each_sequence_has_its_own_gates(make_model):
    model = make_model()
    gates = torch.ones(2, 8 * 7)
    gates[1, 5 * 7 + 2] = 0.5
    plain = model(SOURCE, TARGET)
    with acting(model, gate_actions(model.config.all_heads, gates)):
        both = model(SOURCE.repeat(2, 1), TARGET.repeat(2, 1))
    torch.testing.assert_close(both[:1], plain, rtol=0, atol=2e-6)
    assert (both[1:] - plain).abs().max() > 1e-4


def test_cached_decoding_under_interventions_equals_the_whole_pass(explorable):
    """Every step again as a full pass over all tokens so far, under the same interventions."""
    done = Interventions.parse(EVERYWHERE)
    trace = explorable.trace("3 1 2", pad_to=6, **done.options())
    assert len(trace.target_tokens) >= 4
    assert trace.integrity().ok.all()
    assert not trace.integrity().expected.any()
    ids = [BOS, *explorable.target_vocabulary.encode(" ".join(trace.target_tokens[1:]))]
    source = torch.tensor([[*explorable.source_vocabulary.encode("3 1 2"), EOS, 0, 0]])
    chosen = trace.steps().query("chosen").set_index("step")
    model = explorable.transformer
    for step in range(1, len(ids) + 1):
        with torch.no_grad(), applied(model, done), recorded(model, "*cross*.pattern") as seen:
            logits = model(source, torch.tensor([ids[:step]]))[0, -1]
        assert chosen.id[step] == logits[EOS:].argmax() + EOS
        np.testing.assert_allclose(
            chosen.probability[step], logits.softmax(-1)[chosen.id[step]], atol=1e-5
        )
        for layer in range(2):
            row = seen[path("cross", layer, "pattern")][0, :, -1]
            np.testing.assert_allclose(trace.attention("cross")[layer, :, step - 1], row, atol=1e-6)


def test_a_masked_cell_is_zero_with_the_reason_edited(explorable):
    done = Interventions.parse(
        ["close cross.1.2 1 0", "close cross.1.2 1 3", "close encoder.*.* 0 2"]
    )
    trace = explorable.trace("1 2 3", **done.options())
    assert trace.attention("cross")[1, 2, 1, [0, 3]].tolist() == [0, 0]
    assert (trace.attention("cross")[1, 1, 1] > 0).all()
    assert trace.mask_reason("cross", 1, 2)[1].tolist() == ["edited", "", "", "edited"]
    assert (trace.mask_reason("cross", 1, 1) == "").all()
    assert trace.mask_reason("encoder", 0, 2)[0].tolist() == ["", "", "edited", ""]
    assert trace.mask("decoder").ndim == 2
    assert trace.facts["interventions"] == list(done.texts())
    assert trace.digest != explorable.trace("1 2 3").digest


def test_a_set_row_is_normalised_over_its_unmasked_keys(explorable):
    rows = [
        RowOverride("cross", 0, 1, 2, (1.0, 0.0, 3.0)),
        RowOverride("decoder", 1, 0, 1, (2.0, 2.0, 4.0)),  # key 2 comes later
        RowOverride("encoder", 0, 2, 0, (0.0, 1e-30)),
    ]
    trace = explorable.trace("1 2 3", pad_to=6, override_row=rows)
    assert trace.attention("cross")[0, 1, 2].tolist() == [0.25, 0, 0.75, 0, 0, 0]
    assert trace.attention("decoder")[1, 0, 1, :3].tolist() == [0.5, 0.5, 0]
    assert trace.attention("encoder")[0, 2, 0, :3].tolist() == [0, 1, 0]
    assert trace.integrity().ok.all()
    plain = explorable.trace("1 2 3", pad_to=6).attention("encoder")
    np.testing.assert_array_equal(trace.attention("encoder")[0, :2], plain[0, :2])


def test_unmasking_a_later_position_is_marked_as_counterfactual(explorable):
    cells = [CellEdit("decoder", None, None, 1, 3, open=True)]
    plain = explorable.trace("1 2 3", target="3 2 1")
    trace = explorable.trace("1 2 3", target="3 2 1", edit_mask=cells)
    assert trace.mask("decoder", 0, 0)[1, 3]
    assert trace.attention("decoder")[:, :, 1, 3].min() > 0
    integrity = trace.integrity().set_index("check")
    assert integrity.error["cached_equals_full"] > 1e-4
    assert integrity.ok.all()
    assert integrity.expected[integrity.expected].index.tolist() == ["cached_equals_full"]
    np.testing.assert_allclose(trace.losses[0], plain.losses[0], atol=1e-5)
    assert abs(trace.losses[1] - plain.losses[1]) > 1e-4


def test_unmasking_padding_is_marked_too(explorable):
    cells = [CellEdit("cross", 0, 0, 0, 4, open=True)]
    integrity = explorable.trace("1 2", pad_to=5, edit_mask=cells).integrity().set_index("check")
    assert integrity.expected["padding_changes_nothing"]
    assert integrity.ok.all()


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("ablate cross.2.0", "no_such_head"),
        ("ablate encoder.1.0", "no_such_head"),
        ("keep cross.0.3", "no_such_head"),
        ("close cross.0.-1 0 0", "no_such_head"),
        ("row decoder.7.0 0 1", "no_such_head"),
        ("close cross.0.0 0 4", "no_such_cell"),
        ("close cross.0.0 99 0", "no_such_cell"),
        ("close encoder.0.0 -1 0", "no_such_cell"),
        ("open decoder.0.0 0 99", "no_such_cell"),
        ("row cross.0.0 0 1,1,1,1,1", "too_many_weights"),
        ("row cross.0.0 99 1", "no_such_row"),
        ("row cross.0.0 -1 1", "no_such_row"),
        ("row decoder.0.0 0 0,1", "row_on_masked_cells"),
        ("ablate cross.0.0 mean", "no_means"),
        ("close decoder.0.0 0 0", "masked_row"),
        ("open cross.0.0 0 1", "already_unmasked"),
        ("open decoder.*.* 1 0", "already_unmasked"),
        ("close decoder.0.0 0 1", "already_masked"),
    ],
)
def test_interventions_that_the_model_does_not_allow_are_refused(explorable, line, key):
    with pytest.raises((InterventionError, MaskError)) as caught:
        explorable.trace("1 2 3", **Interventions.parse([line]).options())
    assert caught.value.key == key
    assert caught.value.in_language("zh") != str(caught.value)


def test_a_head_that_is_not_there_is_named_as_it_was_typed(explorable):
    for name in ("cross.9.*", "decoder.7.2"):
        with pytest.raises(InterventionError, match=rf"no head {re.escape(name)}:"):
            explorable.trace("1 2 3", **Interventions.parse([f"close {name} 2 1"]).options())


def test_all_heads_of_a_layer_are_removed_as_each_by_itself(explorable):
    together = explorable.trace("1 2 3", ablate=[("cross", 0, None)])
    each = explorable.trace("1 2 3", ablate=[("cross", 0, head) for head in range(3)])
    assert np.array_equal(together.steps().probability, each.steps().probability)
    assert together.facts["interventions"] == ["ablate cross.0.*"]


def test_removing_every_head_is_refused_and_a_whole_site_is_not(explorable):
    heads = explorable.transformer.config.all_heads
    with pytest.raises(InterventionError) as caught:
        explorable.trace("1", ablate=heads)
    assert caught.value.key == "nothing_left"
    assert explorable.trace("1", ablate=[head for head in heads if head.site == "cross"])


def test_masking_all_cells_of_a_row_is_refused_with_its_number(explorable):
    cells = [CellEdit("cross", 1, 1, 2, key) for key in range(4)]
    with pytest.raises(MaskError) as caught:
        explorable.trace("1 2 3", target="3 2 1", edit_mask=cells)
    assert caught.value.facts == {"query": 2}
    assert explorable.trace("1 2 3", target="3 2 1", edit_mask=cells[1:])


def test_interventions_never_leak_into_another_thread_or_the_model(explorable):
    wanted = [
        {},
        {"ablate": [("cross", 1, 2), ("encoder", 0, 0)]},
        Interventions.parse(EVERYWHERE).options(),
        {"edit_mask": [CellEdit("cross", None, None, 0, 0)]},
    ]
    expected = [explorable.trace("3 1 2", **options).digest for options in wanted]
    assert len(set(expected)) == 4
    wrong: list[int] = []
    barrier = threading.Barrier(len(wanted))

    def visit(mine: int) -> None:
        barrier.wait()
        for _ in range(10):
            if explorable.trace("3 1 2", **wanted[mine]).digest != expected[mine]:
                wrong.append(mine)

    threads = [threading.Thread(target=visit, args=(mine,)) for mine in range(len(wanted))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert explorable.trace("3 1 2").digest == expected[0]
    assert all(weight.grad is None for weight in explorable.transformer.parameters())


@pytest.mark.parametrize("weights", [(1e300, 1e300), (1e-300, 1e-300), (1.0, 1.0, 1e300)])
def test_the_weights_of_a_row_may_have_any_scale(explorable, weights):
    row = RowOverride("decoder", 0, 0, 1, weights)  # the third key is masked for query 1
    trace = explorable.trace("1 2 3", override_row=[row])
    np.testing.assert_allclose(trace.attention("decoder")[0, 0, 1, :2], [0.5, 0.5], atol=1e-6)


@pytest.fixture
def model(explorable):
    return explorable.transformer


def without_scaling(model):
    """The same model with queries √K times as long: scores as if they were not divided."""
    other, width = copy.deepcopy(model), model.config.d_model
    root = model.config.head_width**0.5
    with torch.no_grad():
        for module in other.modules():
            if isinstance(module, SelfAttention):
                module.query_key_value.weight[:width] *= root
                module.query_key_value.bias[:width] *= root
            elif isinstance(module, CrossAttention):
                module.query.weight *= root
                module.query.bias *= root
    return other


def without_mask(model):
    other = copy.deepcopy(model)
    other.config = replace(model.config, causal=False)
    return other


def without_positions(model):
    other = copy.deepcopy(model)
    for stack in (other.encoder, other.decoder):
        stack.embedding.positions.zero_()
    return other


BUILT = {"scaling": without_scaling, "mask": without_mask, "positions": without_positions}


@pytest.mark.parametrize("name", BUILT)
def test_a_part_left_out_equals_a_model_without_it(explorable, model, name):
    checkpoint = replace(explorable.checkpoint, model=BUILT[name](model))
    expected = ExplorableModel(checkpoint, "built").trace("1 2 3")
    found = explorable.trace("1 2 3", without=[name])
    plain = explorable.trace("1 2 3")
    assert found.predicted_tokens == expected.predicted_tokens
    for site in found.sites:
        np.testing.assert_allclose(found.attention(site), expected.attention(site), atol=1e-5)
        assert (found.mask(site) == expected.mask(site)).all()
    length = min(len(found.target_tokens), len(plain.target_tokens))
    one, other = (trace.attention("decoder")[:, :, :length, :length] for trace in (found, plain))
    assert not np.allclose(one, other, atol=1e-3)
    assert found.facts["interventions"] == [f"omit {name}"]
    assert found.integrity().ok.all()
    again = explorable.trace("1 2 3")
    assert again.digest == plain.digest


def test_without_masks_padding_is_attended_to(explorable):
    trace = explorable.trace("1 2", pad_to=6, without="mask")
    assert trace.mask("cross").all()
    assert (trace.attention("cross")[..., 3:] > 0).all()
    assert trace.integrity().ok.all()


def test_another_part_is_refused(explorable):
    with pytest.raises(ConfigError, match="scaling, mask, positions"):
        explorable.trace("1 2", without=["norm"])
