import torch

from explorer.model.left_out import transformer_left_out

SOURCE = torch.tensor([[3, 4, 5, 2]])
TARGET = torch.tensor([[1, 6, 7]])


@torch.no_grad()
def test_a_source_token_that_is_left_out_is_as_padding(make_model):
    model = make_model()
    passes = transformer_left_out(model, SOURCE, TARGET)
    found = passes.without_source(torch.tensor([1, 3])).whole()
    for row, token in enumerate((1, 3)):
        padded = SOURCE.clone()
        padded[0, token] = 0
        torch.testing.assert_close(found[row], model(padded, TARGET)[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(passes.whole().whole(), model(SOURCE, TARGET))


@torch.no_grad()
def test_rows_before_a_target_token_that_is_left_out_are_as_before(make_model):
    model = make_model()
    passes = transformer_left_out(model, SOURCE, TARGET)
    found, plain = passes.without_target(torch.tensor([1])).whole()[0], model(SOURCE, TARGET)[0]
    torch.testing.assert_close(found[0], plain[0], atol=1e-6, rtol=0)
    assert ((found - plain)[1:].abs().amax(-1) > 1e-3).all()
    assert passes.reached.tolist() == torch.ones(3, 3).tril().bool().tolist()
    assert passes.numbers == max(3 * 17, 7 * 4 * 4)
