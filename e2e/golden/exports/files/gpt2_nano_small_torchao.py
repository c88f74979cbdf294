# bendscope plan small sha256:cfcb5819a28e5e0b98a7abb1b7dd04ba73a8af570ac39bf004e48ff176bcd437 fit: 4 sites rounded up, must match 8 layers
# model gpt2-nano sha256:021d46f1e2b013e758eb299fde9f2f72f552114f5ab622e48845371613230c38, recipe nvfp4 rht sr, Bendscope VERSION
# rounded up:
#   h.0.attn.c_attn:dgrad nvfp4 -> fp8
#   h.0.attn.c_attn:wgrad nvfp4 -> fp8
#   h.0.mlp.c_fc:fprop nvfp4 -> fp8
#   h.0.mlp.c_fc:dgrad nvfp4 -> fp8
# because torchao FqnToConfig holds one format a layer, so a layer runs in the highest of its three passes
# note: torchao FqnToConfig: NVFP4 weights are scaled in blocks of 1x16, and the plan was measured with 16x16
# apply(model) on a BF16 model whose layers are nn.Linear; GPT-2 of Hugging Face has Conv1D, to be replaced first
# inference and QAT run forward passes in these formats; no backward pass is low

from collections import OrderedDict

import torch
from torchao.prototype.mx_formats import NVFP4DynamicActivationNVFP4WeightConfig
from torchao.quantization import Float8DynamicActivationFloat8WeightConfig, FqnToConfig, PerTensor, quantize_

NVFP4 = NVFP4DynamicActivationNVFP4WeightConfig()
FP8 = Float8DynamicActivationFloat8WeightConfig(granularity=PerTensor())

# None: stays BF16
FQN_TO_CONFIG = OrderedDict([
    ("transformer.h.0.attn.c_attn", FP8),
    ("transformer.h.0.attn.c_proj", NVFP4),
    ("transformer.h.0.mlp.c_fc", FP8),
    ("transformer.h.0.mlp.c_proj", NVFP4),
    ("transformer.h.1.attn.c_attn", NVFP4),
    ("transformer.h.1.attn.c_proj", NVFP4),
    ("transformer.h.1.mlp.c_fc", NVFP4),
    ("transformer.h.1.mlp.c_proj", None),
])


def apply(model):
    modules = dict(model.named_modules())
    wrong = [name for name in FQN_TO_CONFIG if not isinstance(modules.get(name), torch.nn.Linear)]
    if wrong:
        raise ValueError(f"{len(wrong)} of {len(FQN_TO_CONFIG)} layers are missing or no nn.Linear, such as {wrong[0]}")
    quantize_(model, FqnToConfig(FQN_TO_CONFIG), filter_fn=None)
    return model
