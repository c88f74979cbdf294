"""
Writes names/<spelling>-<layers>.txt: what the layers of a GPT-2 of 12 and 48 blocks are called by the code that takes an
export, every module of the model, one a line.
hf-gpt2: read from the model itself (transformers 5.24.0, on the meta device). The others are put together as the sources do:
te, te-unfused: TransformerEngine pytorch/transformer.py, attention/multi_head_attention.py, module/layernorm_mlp.py (name=);
te-attributes: the module paths that debug_api.infer_and_assign_layer_names takes; te-documents: docs/debug/2_config_file_structure.rst;
megatron: named_modules() of Megatron-LM core/models/gpt/gpt_model.py with the TransformerEngine layer specification.
"""
import pathlib

HERE = pathlib.Path(__file__).parent / "names"

# Per block, in the order in which the modules are built.
BLOCKS = {
    "te": ("transformer_layer.{}", ["", "self_attention", "self_attention.layernorm_linear_qkv", "self_attention.core_attention", "self_attention.proj", "layernorm_mlp", "layernorm_mlp.fc1", "layernorm_mlp.fc2"]),
    "te-unfused": ("transformer_layer.{}", ["", "self_attention", "self_attention.linear_qkv", "self_attention.core_attention", "self_attention.proj", "layernorm_mlp", "layernorm_mlp.fc1", "layernorm_mlp.fc2"]),
    "te-attributes": ("transformer_layer.{}", ["", "self_attention", "self_attention.layernorm_qkv", "self_attention.core_attention", "self_attention.proj", "layernorm_mlp", "layernorm_mlp.fc1", "layernorm_mlp.fc2"]),
    "te-documents": ("transformer_layer.{}", ["", "self_attn", "self_attn.layernorm_linear_qkv", "self_attn.proj", "layernorm_mlp", "layernorm_mlp.fc1", "layernorm_mlp.fc2"]),
    "megatron": ("decoder.layers.{}", ["", "input_layernorm", "self_attention", "self_attention.core_attention", "self_attention.linear_proj", "self_attention.linear_qkv", "self_attention.q_layernorm", "self_attention.k_layernorm", "pre_cross_attn_layernorm", "cross_attention", "cross_attn_bda", "pre_mlp_layernorm", "mlp", "mlp.linear_fc1", "mlp.linear_fc2"]),
}
AROUND = {
    "megatron": (["embedding", "embedding.word_embeddings", "embedding.position_embeddings", "embedding.embedding_dropout", "decoder", "decoder.layers"], ["decoder.final_layernorm", "output_layer"]),
}


def hugging_face(layers):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    with torch.device("meta"):
        model = GPT2LMHeadModel(GPT2Config(n_layer=layers))
    return [name for name, _ in model.named_modules() if name]


def written(spelling, layers):
    block, parts = BLOCKS[spelling]
    before, after = AROUND.get(spelling, (["embedding"], ["ln_f", "lm_head"]))
    inside = [block.format(i) + (f".{part}" if part else "") for i in range(layers) for part in parts]
    return [*before, *inside, *after]


HERE.mkdir(exist_ok=True)
for count in (12, 48):
    for spelling in ("hf-gpt2", *BLOCKS):
        names = hugging_face(count) if spelling == "hf-gpt2" else written(spelling, count)
        (HERE / f"{spelling}-{count}.txt").write_text("\n".join(names) + "\n")
