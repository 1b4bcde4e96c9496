"""Models of the library `transformers`: a directory in, traces out.

The library is imported here alone, and only when a directory is opened; it comes with
`pip install 'attention-explorer[huggingface]'`. There is no table of families. One function
replaces the library's attention (`capture`): it calls the family's own attention, and records its
inputs and outputs. `verification` compares these with the weights that the library itself returns,
and refuses a model where they differ.

    directory_files      config, weights and tokenizer of a directory, without the library
    loading              a directory → model, by the library
    library_errors       errors of the library as one sentence each
    hub                  models in the cache of the hub, or fetched into it
    placement            weights that the caller has put on devices or on disk
    verification         calls of attention → their layers and sites (`anatomy`)
    tokenizer_fit        whether a tokenizer is the model's own
    tokens               text ↔ ids, with labels that a person can read
    inputs               ids with padding, as each kind of model takes them
    generation_settings  settings for decoding in the configs
    decoding             tokens that greedy decoding may choose, or a caller imposes; its result
    output_head          hidden states → logits, for some rows at a time
    passes               the passes of the three kinds of models, and greedy decoding
    batch_texts          sentences with the expected predictions, as each kind of model reads them
    batch_passes         passes over batches, for measurements of heads
    edits                interventions, as edits of single calls
    masks                additive masks → reasons
    attention_arrays     recorded calls → arrays of a trace
    predictions          logits and decoded tokens → steps, labels and text of a trace
    answers              predictions of a model without next-token output: class, tags, span
    measured_errors      the errors of a trace that only the model can measure
    export               a model trained here → a directory of the library (`export_weights`,
                         `export_tokenizer`)
    traced_model         the whole: `HuggingFaceModel`
"""
