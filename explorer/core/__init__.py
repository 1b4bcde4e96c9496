"""The `Trace` and its parts: vocabularies, masks, words, alignment, interventions.

May import the standard library, NumPy, pandas and sentencepiece; no torch.
"""
