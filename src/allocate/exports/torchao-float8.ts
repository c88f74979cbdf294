/**
 * torchao FP8 training: one conversion a distinct setting with disjoint filters; a GEMM is BF16 where both of its operands
 * are left unscaled. A second CastConfig is built for every operand: torchao writes the element type into it.
 * Source: formats.md 6.4; torchao `float8/config.py`, `float8/float8_linear_utils.py`.
 */
import { PASSES } from '../../graph/types';
import type { Header } from './header';
import { layerTarget, type HeldPlan } from './layer-target';
import { pythonBool, quoted } from './patterns';

function text({ layers, options }: HeldPlan, { comment }: Header): string {
  return `${comment}
import torch
from torchao.float8 import Float8LinearConfig, convert_to_float8_training
from torchao.float8.config import CastConfig, ScalingType

# layer -> format of fprop, dgrad, wgrad; a layer that is not here is not converted
LAYERS = {
${layers.map(({ name, held }) => `    ${quoted(name)}: (${PASSES.map((pass) => quoted(held[pass])).join(', ')}),\n`).join('')}}


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
        round_scales_to_power_of_2=${pythonBool(options.pow2)},
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
`;
}

export const torchaoFloat8 = layerTarget({
  id: 'torchao-float8',
  label: 'torchao Float8 training',
  sentence: 'Python for convert_to_float8_training: every GEMM in FP8 or BF16.',
  preset: 'hf-gpt2',
  library: 'torchao Float8 training',
  fileEnding: 'torchao_float8.py',
  mediaType: 'text/x-python',
  scope: 'gemm',
  formats: { fp8: { multiple: 16 } },
  usage: () => ['apply(model) before training; layers must be nn.Linear: GPT-2 of Hugging Face has Conv1D, to be replaced first'],
  patterns: ({ layers }) => layers.map(({ name }) => ({ rule: 'exact', pattern: name })),
  text,
});
