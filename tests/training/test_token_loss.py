from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from explorer.core.vocabulary import PAD
from explorer.model.transformer import ModelConfig, Transformer
from explorer.training.token_loss import TokenLoss

CONFIG = ModelConfig(
    1200, 1200, d_model=16, heads=2, encoder_layers=1, decoder_layers=1, d_ff=32, dropout=0.0
)
SOURCE = torch.randint(3, 1200, (9, 30), generator=torch.Generator().manual_seed(0))
TARGET = torch.randint(3, 1200, (9, 31), generator=torch.Generator().manual_seed(1))
for row in range(9):
    TARGET[row, 31 - 3 * row :] = PAD


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("tied", [False, True])
def test_the_loss_by_rows_and_its_gradients_are_those_of_cross_entropy(smoothing, tied):
    torch.manual_seed(2)
    model = Transformer(replace(CONFIG, tied_embeddings=tied))
    loss = TokenLoss(model, smoothing)(SOURCE, TARGET)
    (loss * 0.5).backward()
    ours = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    expected = F.cross_entropy(
        model(SOURCE, TARGET[:, :-1]).flatten(0, 1),
        TARGET[:, 1:].flatten(),
        ignore_index=PAD,
        label_smoothing=smoothing,
        reduction="sum",
    )
    (expected * 0.5).backward()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(ours[name], weight.grad, rtol=1e-4, atol=1e-4)


def test_in_bfloat16_the_loss_is_close():
    torch.manual_seed(2)
    model = Transformer(CONFIG)
    exact = TokenLoss(model, 0.1)(SOURCE, TARGET).item()
    with torch.autocast("cpu", torch.bfloat16):
        loss = TokenLoss(model, 0.1)(SOURCE, TARGET)
    loss.backward()
    assert loss.item() == pytest.approx(exact, rel=1e-3)
    assert all(weight.grad.dtype == torch.float32 for weight in model.parameters())


def test_a_small_vocabulary_and_evaluation_give_the_same_loss():
    torch.manual_seed(2)
    model = Transformer(CONFIG)
    by_rows = TokenLoss(model, 0.1)(SOURCE, TARGET).item()
    with torch.no_grad():
        assert TokenLoss(model, 0.1)(SOURCE, TARGET).item() == pytest.approx(by_rows, rel=1e-5)
