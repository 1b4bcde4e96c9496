"""A training that is over in a moment, for tests of all that goes on around one."""

from explorer.settings import TrainingConfig

TINY = TrainingConfig(
    task="copy",
    longest=3,
    symbols=("1", "2", "3", "4"),
    d_model=16,
    heads=2,
    encoder_layers=1,
    decoder_layers=1,
    d_ff=16,
    dropout=0.0,
    steps=40,
    batch=16,
    evaluate_every=5,
    device="cpu",
)
