# bendscope plan small sha256:cfcb5819a28e5e0b98a7abb1b7dd04ba73a8af570ac39bf004e48ff176bcd437 fit: 19 sites rounded up, must match 8 layers
# model gpt2-nano sha256:021d46f1e2b013e758eb299fde9f2f72f552114f5ab622e48845371613230c38, recipe nvfp4 rht sr, Bendscope VERSION
# rounded up:
#   h.0.attn.c_attn:dgrad nvfp4 -> fp8
#   h.0.attn.c_attn:wgrad nvfp4 -> fp8
#   h.0.attn.c_proj:fprop nvfp4 -> fp8
#   h.0.attn.c_proj:dgrad nvfp4 -> fp8
#   h.0.attn.c_proj:wgrad nvfp4 -> fp8
#   h.0.mlp.c_fc:fprop nvfp4 -> fp8
#   h.0.mlp.c_fc:dgrad nvfp4 -> fp8
#   h.0.mlp.c_proj:fprop nvfp4 -> fp8
#   h.0.mlp.c_proj:dgrad nvfp4 -> fp8
#   h.0.mlp.c_proj:wgrad nvfp4 -> fp8
#   h.1.attn.c_attn:fprop nvfp4 -> fp8
#   h.1.attn.c_attn:dgrad nvfp4 -> fp8
#   h.1.attn.c_attn:wgrad nvfp4 -> fp8
#   h.1.attn.c_proj:fprop nvfp4 -> fp8
#   h.1.attn.c_proj:dgrad nvfp4 -> fp8
#   h.1.attn.c_proj:wgrad nvfp4 -> fp8
#   h.1.mlp.c_fc:fprop nvfp4 -> fp8
#   h.1.mlp.c_fc:dgrad nvfp4 -> fp8
#   h.1.mlp.c_fc:wgrad nvfp4 -> fp8
# because torchao Float8 training has no nvfp4
# apply(model) before training; layers must be nn.Linear: GPT-2 of Hugging Face has Conv1D, to be replaced first

import torch
from torchao.float8 import Float8LinearConfig, convert_to_float8_training
from torchao.float8.config import CastConfig, ScalingType

# layer -> format of fprop, dgrad, wgrad; a layer that is not here is not converted
LAYERS = {
    "transformer.h.0.attn.c_attn": ("fp8", "fp8", "fp8"),
    "transformer.h.0.attn.c_proj": ("fp8", "fp8", "fp8"),
    "transformer.h.0.mlp.c_fc": ("fp8", "fp8", "fp8"),
    "transformer.h.0.mlp.c_proj": ("fp8", "fp8", "fp8"),
    "transformer.h.1.attn.c_attn": ("fp8", "fp8", "fp8"),
    "transformer.h.1.attn.c_proj": ("fp8", "fp8", "fp8"),
    "transformer.h.1.mlp.c_fc": ("fp8", "fp8", "fp8"),
    "transformer.h.1.mlp.c_proj": ("bf16", "bf16", "bf16"),
}


def cast(low):
    return CastConfig(scaling_type=ScalingType.DYNAMIC if low else ScalingType.DISABLED)


def config(fprop, dgrad, wgrad):
    return Float8LinearConfig(
        cast_config_input=cast(fprop),
        cast_config_weight=cast(fprop),
        cast_config_grad_output=cast(dgrad),
        cast_config_weight_for_grad_input=cast(dgrad),
        cast_config_input_for_grad_weight=cast(wgrad),
        cast_config_grad_output_for_grad_weight=cast(wgrad),
        round_scales_to_power_of_2=False,
    )


def apply(model):
    modules = dict(model.named_modules())
    wrong = [name for name in LAYERS if not isinstance(modules.get(name), torch.nn.Linear)]
    if wrong:
        raise ValueError(f"{len(wrong)} of {len(LAYERS)} layers are missing or no nn.Linear, such as {wrong[0]}")
    for formats in sorted(set(LAYERS.values())):
        low = [name == "fp8" for name in formats]
        if any(low):
            names = {name for name, own in LAYERS.items() if own == formats}
            convert_to_float8_training(model, config=config(*low), module_filter_fn=lambda module, fqn: fqn in names)
    return model
