"""Models of the library `transformers`: a directory in, traces out.

The library is imported here alone, and only when a directory is opened; it comes with
`pip install transformers accelerate`. There is no table of families. One function
replaces the library's attention (`capture.attention_calls`): it calls the family's own attention,
and records its inputs and outputs. `capture.verification` compares these with the weights that the
library itself returns, and refuses a model where they differ.

    opening/             a directory, or a model in memory → a model, by the library
    capture/             the calls of attention in a pass: recorded, edited, verified
    streams/             residual streams and projections, for contributions and predictions

    anatomy              sites and layers of the calls of attention
    library_errors       errors of the library as one sentence each
    placement            weights that the caller has put on devices or on disk
    tokens               text ↔ ids, with labels that a person can read
    inputs               ids with padding, as each kind of model takes them
    generation_settings  settings for decoding in the configs
    decoding             tokens that greedy decoding may choose, or a caller imposes; its result
    batch_texts          sentences with the expected predictions, as each kind of model reads them
    batch_passes         passes over batches, for measurements of heads
    prepared_text        a text before the pass that captures it, and batches of such texts
    predictions          logits and decoded tokens → steps, labels and text of a trace
    answers              predictions of a model without next-token output: class, tags, span
    export               a model trained here → a directory of the library (`export_weights`)
    traced_model         the whole: `HuggingFaceModel`
"""
