"""The Transformer in JavaScript: the same model, files and vocabularies without a server.

`js/transformer.ts` is the forward pass of `explorer/model/transformer.py` on typed arrays, with
the same hook points; `js/explorableModel.ts` takes a text and gives the data of a `Trace`. Nothing
in it needs a page, so a worker can import it. Tests compare every number with Python's.
"""
