"""Models of the library `transformers`: a directory in, traces out.

The library is imported here alone, and only when a directory is opened; it comes with
`pip install 'attention-explorer[huggingface]'`. There is no table of families. One function stands
in for the library's attention (`capture`), calls the family's own one and records what goes in and
comes out; `verification` compares that with the weights that the library itself returns, and
refuses a model where they differ.

    directory_files      what is in a directory, without the library
    other_contents       what is in the place of whole weights: pointers, adapters, packed numbers
    loading              a directory → model, safely
    config_faults        what is wrong with a config that no model can be built from
    weight_sizes         sizes that a config names, against those of the weights
    placement            weights on several devices and on disk
    verification         → which call of attention is which layer of which site (`anatomy`)
    tokenizer_check      a tokenizer is tried in a child process first (`tokenizer_counts`,
                         `text_growth`)
    tokens               text ↔ ids, with labels that a person can read
    inputs               ids with padding, as each kind of model takes them
    generation_settings  what the configs say of decoding
    decoding_rules       what greedy decoding may choose
    forced_tokens        what a caller imposes on decoding
    output_head          what makes logits of hidden states, over some rows
    passes               the passes of the three kinds of models, and greedy decoding
    batch_texts          sentences with what follows them, as each kind of model reads them
    batch_passes         passes over batches, for measurements of heads
    edits                interventions, as edits of single calls
    masks                additive masks → reasons
    attention_arrays     recorded calls → arrays of a trace
    decoded              what was decoded, and what went in
    predictions          logits and decoded tokens → steps, labels and text of a trace
    answers              a class, tags, a span: what a model predicts that predicts no tokens
    measured_errors      the errors of a trace that only the model can measure
    export               a model trained here → a directory of the library (`export_weights`,
                         `export_tokenizer`)
    traced_model         all together: `HuggingFaceModel.trace`
"""
