# bendscope plan small sha256:cfcb5819a28e5e0b98a7abb1b7dd04ba73a8af570ac39bf004e48ff176bcd437 fit: 14 sites rounded up, must match 8 layers
# model gpt2-nano sha256:021d46f1e2b013e758eb299fde9f2f72f552114f5ab622e48845371613230c38, recipe nvfp4 rht sr, Bendscope VERSION
# rounded up:
#   h.0.attn.c_attn:dgrad nvfp4 -> bf16
#   h.0.attn.c_attn:wgrad nvfp4 -> bf16
#   h.0.attn.c_proj:dgrad nvfp4 -> bf16
#   h.0.attn.c_proj:wgrad nvfp4 -> bf16
#   h.0.mlp.c_fc:dgrad nvfp4 -> bf16
#   h.0.mlp.c_fc:wgrad fp8 -> bf16
#   h.0.mlp.c_proj:dgrad nvfp4 -> bf16
#   h.0.mlp.c_proj:wgrad nvfp4 -> bf16
#   h.1.attn.c_attn:dgrad nvfp4 -> bf16
#   h.1.attn.c_attn:wgrad nvfp4 -> bf16
#   h.1.attn.c_proj:dgrad nvfp4 -> bf16
#   h.1.attn.c_proj:wgrad nvfp4 -> bf16
#   h.1.mlp.c_fc:dgrad nvfp4 -> bf16
#   h.1.mlp.c_fc:wgrad nvfp4 -> bf16
# because Model Optimizer sets the forward pass only, so the backward passes run in BF16
# note: Model Optimizer: NVFP4 weights are scaled in blocks of 1x16, and the plan was measured with 16x16
# note: Model Optimizer: FP8 scales of activations come from calibration, and the plan was measured with the scale of each tensor
# mtq.quantize(model, QUANT_CFG, forward_loop)

NVFP4 = {"num_bits": (2, 1), "block_sizes": {-1: 16, "type": "dynamic", "scale_bits": (4, 3)}}
FP8 = {"num_bits": (4, 3), "axis": None}

QUANT_CFG = {
    "quant_cfg": [
        {"quantizer_name": "*", "enable": False},
        {"quantizer_name": "transformer.h.0.attn.c_attn.weight_quantizer", "cfg": FP8},
        {"quantizer_name": "transformer.h.0.attn.c_attn.input_quantizer", "cfg": FP8},
        {"quantizer_name": "transformer.h.0.attn.c_proj.weight_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.0.attn.c_proj.input_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.0.mlp.c_fc.weight_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.0.mlp.c_fc.input_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.0.mlp.c_proj.weight_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.0.mlp.c_proj.input_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.attn.c_attn.weight_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.attn.c_attn.input_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.attn.c_proj.weight_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.attn.c_proj.input_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.mlp.c_fc.weight_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.mlp.c_fc.input_quantizer", "cfg": NVFP4},
        {"quantizer_name": "transformer.h.1.mlp.c_proj.weight_quantizer", "enable": False},
        {"quantizer_name": "transformer.h.1.mlp.c_proj.input_quantizer", "enable": False},
    ],
    "algorithm": "max",
}
