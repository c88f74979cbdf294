# bendscope plan small sha256:cfcb5819a28e5e0b98a7abb1b7dd04ba73a8af570ac39bf004e48ff176bcd437 fit: exact, must match 8 layers
# model gpt2-nano sha256:021d46f1e2b013e758eb299fde9f2f72f552114f5ab622e48845371613230c38, recipe nvfp4 rht sr, Bendscope VERSION
# train with te.autocast(recipe=CustomRecipe(qfactory=qfactory)); every module needs a name=...
# tokens a step in multiples of 32

import torch
from transformer_engine.pytorch import DType, Float8CurrentScalingQuantizer, HybridQuantizer, IdentityQuantizer, NVFP4Quantizer

# layer -> format of fprop, dgrad, wgrad; a layer that is not here runs in BF16
TABLE = {
    "transformer_layer.0.self_attention.layernorm_linear_qkv": ("fp8", "nvfp4", "nvfp4"),
    "transformer_layer.0.self_attention.proj": ("nvfp4", "nvfp4", "nvfp4"),
    "transformer_layer.0.layernorm_mlp.fc1": ("nvfp4", "nvfp4", "fp8"),
    "transformer_layer.0.layernorm_mlp.fc2": ("nvfp4", "nvfp4", "nvfp4"),
    "transformer_layer.1.self_attention.layernorm_linear_qkv": ("nvfp4", "nvfp4", "nvfp4"),
    "transformer_layer.1.self_attention.proj": ("nvfp4", "nvfp4", "nvfp4"),
    "transformer_layer.1.layernorm_mlp.fc1": ("nvfp4", "nvfp4", "nvfp4"),
    "transformer_layer.1.layernorm_mlp.fc2": ("bf16", "bf16", "bf16"),
}
HIGH = ("bf16", "bf16", "bf16")
# tensor -> which of these GEMMs reads its row copy, which its column copy
USES = {"input": (0, 2), "weight": (0, 1), "grad_output": (1, 2)}
ASKED = set()


def make(family, tensor, column):
    """A new quantizer (HybridQuantizer takes it over); column: whether its column copy is read."""
    weight, grad = tensor == "weight", tensor == "grad_output"
    if family == "nvfp4":
        return NVFP4Quantizer(with_rht=column and not weight, with_post_rht_amax=column and not weight, with_2d_quantization=weight, stochastic_rounding=grad)
    if family == "fp8":
        return Float8CurrentScalingQuantizer(fp8_dtype=DType.kFloat8E5M2 if grad else DType.kFloat8E4M3, device=torch.device("cuda"), force_pow_2_scales=False)
    return IdentityQuantizer()


def qfactory(role):
    if role is None or role.tensor_type not in USES:
        return IdentityQuantizer()
    ASKED.add(role.name)
    formats = TABLE.get(role.name, HIGH)
    row, column = (formats[gemm] for gemm in USES[role.tensor_type])
    if row == column:
        return make(row, role.tensor_type, True)
    return HybridQuantizer(
        rowwise_quantizer=make(row, role.tensor_type, False),
        columnwise_quantizer=make(column, role.tensor_type, True),
    )


def unmatched():
    """Layers of the plan that no module has asked for; empty after one training step if all names are right."""
    return sorted(set(TABLE) - ASKED)
