"""The `Trace` and all that it is made of: vocabularies, masks, words, alignment, interventions.

May import the standard library, NumPy, pandas and sentencepiece; no torch.
"""
