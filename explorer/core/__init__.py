"""The `Trace` and its parts: vocabularies, masks, words, alignment, interventions; also a visitor's
look and its address, lessons, the sentences in all languages, errors and files.

May import the standard library, NumPy, pandas, sentencepiece, msgspec and psutil; no torch.
"""
