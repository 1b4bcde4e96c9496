"""Tiny random models of the library's families, with settings that hide no mistake: heads × key
width is not the width, vocabularies are odd, keys are shared, attention is local, biases relative.

`FAMILIES=all` tests every family, else a sample: `TESTED`, `TESTED_WEIGHTS_ONLY` and
`TESTED_REFUSED`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

VOCABULARY = 67
EOS = 2


@dataclass(frozen=True)
class Family:
    """A class of the library, the sizes of a tiny model, and what a test must know of it.

    projection: by site, the path of the output projection of a layer; without a place for the
        layer's number, of the one module that runs as every layer.
    window: by layer, how far a query attends; None = everywhere.
    first: of the list, tested first and always in full by `make verify`.
    """

    model: str
    config: str
    sizes: Mapping[str, Any]
    projection: Mapping[str, str] = field(default_factory=dict)
    windows: tuple[int | None, ...] = ()
    first: bool = False
    generation: Mapping[str, Any] = field(default_factory=dict)


_BART = {
    "vocab_size": VOCABULARY,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 28,
    "max_position_embeddings": 40,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": EOS,
    "decoder_start_token_id": EOS,
}
_BART_PROJECTION = {
    "encoder": "model.encoder.layers.{}.self_attn.out_proj",
    "decoder": "model.decoder.layers.{}.self_attn.out_proj",
    "cross": "model.decoder.layers.{}.encoder_attn.out_proj",
}
_T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 24,
    "d_kv": 5,
    "d_ff": 30,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 6,
    "pad_token_id": 0,
    "eos_token_id": EOS,
    "decoder_start_token_id": 0,
}
_T5_PROJECTION = {
    "encoder": "encoder.block.{}.layer.0.SelfAttention.o",
    "decoder": "decoder.block.{}.layer.0.SelfAttention.o",
    "cross": "decoder.block.{}.layer.1.EncDecAttention.o",
}
_LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "intermediate_size": 30,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": EOS,
}
_LLAMA_PROJECTION = {"decoder": "model.layers.{}.self_attn.o_proj"}
_WHOLE_WIDTH = {key: value for key, value in _LLAMA.items() if key != "head_dim"}
_EXPERTS = _LLAMA | {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_local_experts": 3,
    "num_experts_per_tok": 2,
}
_BERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 24,
    "intermediate_size": 30,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}
_BERT_LAYER = "encoder.layer.{}.attention.output.dense"
_LOCAL = ("sliding_attention", "full_attention", "sliding_attention")

FAMILIES = {
    "marian": Family("MarianMTModel", "MarianConfig", _BART, _BART_PROJECTION, first=True),
    "bart": Family(
        "BartForConditionalGeneration", "BartConfig", _BART, _BART_PROJECTION, first=True
    ),
    "mbart": Family(
        "MBartForConditionalGeneration", "MBartConfig", _BART, _BART_PROJECTION, first=True
    ),
    "pegasus": Family(
        "PegasusForConditionalGeneration", "PegasusConfig", _BART, _BART_PROJECTION, first=True
    ),
    "m2m_100": Family(
        "M2M100ForConditionalGeneration", "M2M100Config", _BART, _BART_PROJECTION, first=True
    ),
    "t5": Family("T5ForConditionalGeneration", "T5Config", _T5, _T5_PROJECTION, first=True),
    "gpt2": Family(
        "GPT2LMHeadModel",
        "GPT2Config",
        {
            "vocab_size": VOCABULARY,
            "n_positions": 40,
            "n_embd": 24,
            "n_layer": 3,
            "n_head": 3,
            "bos_token_id": 1,
            "eos_token_id": EOS,
            "scale_attn_by_inverse_layer_idx": True,
        },
        {"decoder": "transformer.h.{}.attn.c_proj"},
        first=True,
    ),
    "llama": Family("LlamaForCausalLM", "LlamaConfig", _LLAMA, _LLAMA_PROJECTION, first=True),
    "qwen3": Family(
        "Qwen3ForCausalLM",
        "Qwen3Config",
        _LLAMA | {"tie_word_embeddings": True},
        _LLAMA_PROJECTION,
        first=True,
    ),
    "bert": Family(
        "BertForMaskedLM", "BertConfig", _BERT, {"encoder": f"bert.{_BERT_LAYER}"}, first=True
    ),
    "distilbert": Family(
        "DistilBertForMaskedLM",
        "DistilBertConfig",
        {
            "vocab_size": VOCABULARY,
            "dim": 24,
            "hidden_dim": 30,
            "n_layers": 3,
            "n_heads": 4,
            "max_position_embeddings": 40,
            "pad_token_id": 0,
        },
        {"encoder": "distilbert.transformer.layer.{}.attention.out_lin"},
        first=True,
    ),
    "albert": Family(
        "AlbertForMaskedLM",
        "AlbertConfig",
        _BERT | {"embedding_size": 12},
        {"encoder": "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.dense"},
        first=True,
    ),
    "modernbert": Family(
        "ModernBertForMaskedLM",
        "ModernBertConfig",
        {
            **_BERT,
            "num_hidden_layers": 4,
            "local_attention": 4,
            "bos_token_id": 1,
            "eos_token_id": EOS,
            "cls_token_id": 1,
            "sep_token_id": EOS,
        },
        {"encoder": "model.layers.{}.attn.Wo"},
        windows=(None, 3, 3, None),
        first=True,
    ),
    "blenderbot": Family(
        "BlenderbotForConditionalGeneration", "BlenderbotConfig", _BART, _BART_PROJECTION
    ),
    "plbart": Family("PLBartForConditionalGeneration", "PLBartConfig", _BART, _BART_PROJECTION),
    "mt5": Family("MT5ForConditionalGeneration", "MT5Config", _T5, _T5_PROJECTION),
    "umt5": Family("UMT5ForConditionalGeneration", "UMT5Config", _T5, _T5_PROJECTION),
    "roberta": Family(
        "RobertaForMaskedLM", "RobertaConfig", _BERT, {"encoder": f"roberta.{_BERT_LAYER}"}
    ),
    "electra": Family(
        "ElectraForMaskedLM",
        "ElectraConfig",
        _BERT | {"embedding_size": 12},
        {"encoder": f"electra.{_BERT_LAYER}"},
    ),
    "xlm-roberta": Family(
        "XLMRobertaForMaskedLM", "XLMRobertaConfig", _BERT, {"encoder": f"roberta.{_BERT_LAYER}"}
    ),
    "qwen2": Family("Qwen2ForCausalLM", "Qwen2Config", _WHOLE_WIDTH, _LLAMA_PROJECTION),
    "mistral": Family(
        "MistralForCausalLM",
        "MistralConfig",
        _LLAMA | {"sliding_window": 4},
        _LLAMA_PROJECTION,
        windows=(4, 4, 4),
    ),
    "gemma": Family("GemmaForCausalLM", "GemmaConfig", _LLAMA, _LLAMA_PROJECTION),
    "gemma2": Family(
        "Gemma2ForCausalLM",
        "Gemma2Config",
        _LLAMA | {"sliding_window": 4, "layer_types": list(_LOCAL)},
        _LLAMA_PROJECTION,
        windows=(4, None, 4),
    ),
    "gemma3_text": Family(
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        _LLAMA | {"sliding_window": 4, "layer_types": list(_LOCAL)},
        _LLAMA_PROJECTION,
        windows=(4, None, 4),
    ),
    "olmo2": Family("Olmo2ForCausalLM", "Olmo2Config", _WHOLE_WIDTH, _LLAMA_PROJECTION),
    "stablelm": Family("StableLmForCausalLM", "StableLmConfig", _WHOLE_WIDTH, _LLAMA_PROJECTION),
    "smollm3": Family("SmolLM3ForCausalLM", "SmolLM3Config", _WHOLE_WIDTH, _LLAMA_PROJECTION),
    "starcoder2": Family(
        "Starcoder2ForCausalLM", "Starcoder2Config", _WHOLE_WIDTH, _LLAMA_PROJECTION
    ),
    "phi3": Family("Phi3ForCausalLM", "Phi3Config", _WHOLE_WIDTH, _LLAMA_PROJECTION),
    "mixtral": Family(
        "MixtralForCausalLM",
        "MixtralConfig",
        _EXPERTS,
        _LLAMA_PROJECTION,
    ),
    "gpt_oss": Family(
        "GptOssForCausalLM",
        "GptOssConfig",
        _EXPERTS | {"sliding_window": 4, "layer_types": list(_LOCAL)},
        _LLAMA_PROJECTION,
        windows=(4, None, 4),
    ),
    "opt": Family(
        "OPTForCausalLM",
        "OPTConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 24,
            "word_embed_proj_dim": 24,
            "ffn_dim": 30,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "max_position_embeddings": 40,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": EOS,
        },
        {"decoder": "model.decoder.layers.{}.self_attn.out_proj"},
    ),
    "gpt_neox": Family(
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        {key: value for key, value in _WHOLE_WIDTH.items() if key != "num_key_value_heads"},
        {"decoder": "gpt_neox.layers.{}.attention.dense"},
    ),
}
"""Families that are verified, by `model_type`."""

_GPT = {"vocab_size": VOCABULARY, "n_embd": 24, "n_layer": 3, "n_head": 3}
_GPT |= {"n_positions": 40, "bos_token_id": 1, "eos_token_id": EOS}
_HIDDEN = {"vocab_size": VOCABULARY, "hidden_size": 24, "bos_token_id": 1, "eos_token_id": EOS}
_DISENTANGLED = _BERT | {
    "relative_attention": True,
    "pos_att_type": ["c2p", "p2c"],
    "max_relative_positions": 5,
}
_XLM = {"vocab_size": VOCABULARY, "emb_dim": 24, "n_layers": 3, "n_heads": 3}

WEIGHTS_ONLY = {
    "bloom": Family("BloomForCausalLM", "BloomConfig", _HIDDEN | {"n_layer": 3, "n_head": 3}),
    "falcon": Family(
        "FalconForCausalLM",
        "FalconConfig",
        _HIDDEN | {"num_hidden_layers": 3, "num_attention_heads": 3, "alibi": True},
    ),
    "gptj": Family("GPTJForCausalLM", "GPTJConfig", _GPT | {"rotary_dim": 4}),
    "codegen": Family(
        "CodeGenForCausalLM",
        "CodeGenConfig",
        _GPT | {"n_embd": 32, "n_head": 4, "rotary_dim": 4, "n_ctx": 40},
    ),
    "gpt_neo": Family(
        "GPTNeoForCausalLM",
        "GPTNeoConfig",
        {
            **_HIDDEN,
            "num_layers": 3,
            "num_heads": 3,
            "attention_types": [[["local", "global", "local"], 1]],
            "window_size": 4,
            "max_position_embeddings": 40,
        },
        windows=(4, None, 4),
    ),
    "openai-gpt": Family("OpenAIGPTLMHeadModel", "OpenAIGPTConfig", _GPT),
    "xglm": Family(
        "XGLMForCausalLM",
        "XGLMConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 24,
            "num_layers": 3,
            "attention_heads": 3,
            "ffn_dim": 30,
            "max_position_embeddings": 40,
            "eos_token_id": EOS,
        },
    ),
    "mpt": Family(
        "MptForCausalLM",
        "MptConfig",
        {"vocab_size": VOCABULARY, "d_model": 24, "n_heads": 3, "n_layers": 3, "max_seq_len": 40},
    ),
    "mpnet": Family("MPNetForMaskedLM", "MPNetConfig", _BERT),
    "deberta": Family("DebertaForMaskedLM", "DebertaConfig", _DISENTANGLED),
    "deberta-v2": Family("DebertaV2ForMaskedLM", "DebertaV2Config", _DISENTANGLED),
    "roformer": Family("RoFormerForMaskedLM", "RoFormerConfig", _BERT | {"embedding_size": 24}),
    "rembert": Family(
        "RemBertForMaskedLM",
        "RemBertConfig",
        _BERT | {"input_embedding_size": 24, "output_embedding_size": 24},
    ),
    "big_bird": Family(
        "BigBirdForMaskedLM", "BigBirdConfig", _BERT | {"attention_type": "original_full"}
    ),
    "xlnet": Family(
        "XLNetLMHeadModel",
        "XLNetConfig",
        {"vocab_size": VOCABULARY, "d_model": 24, "n_layer": 3, "n_head": 3, "d_inner": 30},
    ),
    "xlm": Family("XLMWithLMHeadModel", "XLMConfig", _XLM),
    "flaubert": Family("FlaubertWithLMHeadModel", "FlaubertConfig", _XLM),
    "fsmt": Family(
        "FSMTForConditionalGeneration",
        "FSMTConfig",
        {
            **{name: value for name, value in _BART.items() if name != "vocab_size"},
            "langs": ["en", "de"],
            "src_vocab_size": VOCABULARY,
            "tgt_vocab_size": VOCABULARY,
        },
    ),
    "mvp": Family("MvpForConditionalGeneration", "MvpConfig", _BART),
}
"""Families of which the weights alone are known, by `model_type`."""

REFUSED: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "prophetnet": (
        "ProphetNetForConditionalGeneration",
        "ProphetNetConfig",
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 24,
            "encoder_ffn_dim": 30,
            "decoder_ffn_dim": 30,
            "num_encoder_layers": 2,
            "num_decoder_layers": 2,
            "num_encoder_attention_heads": 3,
            "num_decoder_attention_heads": 3,
        },
        "not_one",
    ),
    "longt5": (
        "LongT5ForConditionalGeneration",
        "LongT5Config",
        _T5 | {"local_radius": 3},
        "other_axes",
    ),
    "mra": ("MraForMaskedLM", "MraConfig", _BERT, "off_interface"),
    "granite_swa": ("GraniteSWAForCausalLM", "GraniteSWAConfig", _LLAMA, "without_sink"),
    "fnet": (
        "FNetForMaskedLM",
        "FNetConfig",
        {name: size for name, size in _BERT.items() if "attention" not in name},
        "no_attention",
    ),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 24, "num_hidden_layers": 2, "state_size": 4},
        "no_attention",
    ),
    "funnel": (
        "FunnelForMaskedLM",
        "FunnelConfig",
        {
            "vocab_size": VOCABULARY,
            "d_model": 24,
            "n_head": 3,
            "d_head": 8,
            "d_inner": 30,
            "block_sizes": [1, 1],
        },
        "other_axes",
    ),
    "squeezebert": (
        "SqueezeBertForMaskedLM",
        "SqueezeBertConfig",
        _BERT
        | {
            "embedding_size": 24,
            "q_groups": 1,
            "k_groups": 1,
            "v_groups": 1,
            "post_attention_groups": 1,
            "intermediate_groups": 1,
            "output_groups": 1,
        },
        "not_one",
    ),
    "led": (
        "LEDForConditionalGeneration",
        "LEDConfig",
        {
            **{key: value for key, value in _BART.items() if key != "max_position_embeddings"},
            "max_encoder_position_embeddings": 40,
            "max_decoder_position_embeddings": 40,
            "attention_window": [4, 4],
        },
        "other_axes",
    ),
}
"""Families that are refused: class, config, sizes and the key of the sentence."""

ALL = os.environ.get("FAMILIES") == "all"
TESTED = tuple(FAMILIES) if ALL else ("marian", "t5", "gemma2", "modernbert")
TESTED_WEIGHTS_ONLY = tuple(WEIGHTS_ONLY) if ALL else ("gpt_neo", "deberta", "xlm", "fsmt")
TESTED_REFUSED = tuple(REFUSED) if ALL else ("squeezebert",)


def tiny_model(name: str, seed: int = 0, head: str | None = None, **changes: Any) -> Any:
    """A random model of one family; its weights are large enough that attention is uneven.

    head: the class of the library in place of the family's own, such as "BertForQuestionAnswering".
    """
    family = (FAMILIES | WEIGHTS_ONLY).get(name)
    if family is not None:
        model, config, sizes = head or family.model, family.config, family.sizes
    else:
        model, config, sizes, _ = REFUSED[name]
        model = head or model
    torch.manual_seed(seed)
    made = getattr(transformers, model)(getattr(transformers, config)(**{**sizes, **changes}))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made.eval()


def saved(model: Any, folder: Path) -> Path:
    """`model` as a directory, without a tokenizer."""
    transformers.logging.disable_progress_bar()
    model.save_pretrained(folder)
    return folder
