"""Tiny configs: a model whose sizes tell axes apart, a training that is over in a moment."""

from dataclasses import replace

from explorer.model.config import ModelConfig
from explorer.training.config import TrainingConfig

PRIMES = ModelConfig(  # distinct sizes: a swapped axis cannot pass
    source_vocabulary=13,
    target_vocabulary=17,
    d_model=42,
    heads=7,
    encoder_layers=2,
    decoder_layers=3,
    d_ff=29,
    max_length=23,
)

ALONE = replace(PRIMES, source_vocabulary=17, encoder_layers=0)
"""The same without an encoder."""

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
