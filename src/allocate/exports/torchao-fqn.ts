/**
 * torchao FqnToConfig: a Python map layer -> quantization, for inference and QAT. Layers are keyed by their full names,
 * which take precedence over every pattern; None leaves a layer alone; the deprecated `_default` is never written.
 * Source: formats.md 6.4; torchao `quantization/quant_api.py`, `prototype/mx_formats/inference_workflow.py`.
 */
import type { PassScheme, PolicyOptions } from '../../graph/policy';
import type { Header } from './header';
import { layerTarget, type HeldPlan, type LibraryFormat } from './layer-target';
import { quoted } from './patterns';

interface AoFormat extends LibraryFormat {
  readonly module: string;
  readonly names: readonly string[];
  call(options: PolicyOptions): string;
}

const MX = 'torchao.prototype.mx_formats';
const QUANTIZATION = 'torchao.quantization';
const scaling = ({ floor }: PolicyOptions): string => `ScaleCalculationMode.${floor === true ? 'FLOOR' : 'RCEIL'}`;

const FORMATS: Readonly<Partial<Record<PassScheme, AoFormat>>> = {
  nvfp4: {
    multiple: 16, inner: 32, module: MX, names: ['NVFP4DynamicActivationNVFP4WeightConfig'],
    differs: ({ weights1d }) => (weights1d === true ? null : 'NVFP4 weights are scaled in blocks of 1x16, and the plan was measured with 16x16'),
    call: () => 'NVFP4DynamicActivationNVFP4WeightConfig()',
  },
  mxfp8: {
    multiple: 32, module: MX, names: ['MXDynamicActivationMXWeightConfig', 'ScaleCalculationMode'],
    call: (options) => `MXDynamicActivationMXWeightConfig(activation_dtype=torch.float8_e4m3fn, weight_dtype=torch.float8_e4m3fn, scaling_mode=${scaling(options)})`,
  },
  mxfp4: {
    multiple: 32, module: MX, names: ['MXDynamicActivationMXWeightConfig', 'ScaleCalculationMode'],
    call: (options) => `MXDynamicActivationMXWeightConfig(activation_dtype=torch.float4_e2m1fn_x2, weight_dtype=torch.float4_e2m1fn_x2, scaling_mode=${scaling(options)})`,
  },
  fp8: {
    multiple: 16, module: QUANTIZATION, names: ['Float8DynamicActivationFloat8WeightConfig', 'PerTensor'],
    call: () => 'Float8DynamicActivationFloat8WeightConfig(granularity=PerTensor())',
  },
  'fp8-block': {
    multiple: 128, module: QUANTIZATION, names: ['Float8DynamicActivationFloat8WeightConfig', 'PerBlock'],
    differs: () => 'FP8 block scales are FP32, and the plan was measured with powers of two',
    call: () => 'Float8DynamicActivationFloat8WeightConfig(granularity=(PerBlock([1, 128]), PerBlock([128, 128])))',
  },
};

const constant = (scheme: PassScheme): string => scheme.toUpperCase().replaceAll('-', '_');

function text({ layers, schemes, options }: HeldPlan, { comment }: Header): string {
  const rows = schemes.flatMap((scheme) => {
    const format = FORMATS[scheme];
    return format ? [{ scheme, ...format }] : [];
  });
  const namesOf = (module: string): string[] => [...new Set(rows.filter((row) => row.module === module).flatMap(({ names }) => names))];
  const mx = namesOf(MX).sort();
  return `${comment}
from collections import OrderedDict

import torch
${mx.length > 0 ? `from ${MX} import ${mx.join(', ')}\n` : ''}from ${QUANTIZATION} import ${[...namesOf(QUANTIZATION), 'FqnToConfig', 'quantize_'].sort().join(', ')}

${rows.map(({ scheme, call }) => `${constant(scheme)} = ${call(options)}\n`).join('')}
# None: stays BF16
FQN_TO_CONFIG = OrderedDict([
${layers.map(({ name, held }) => `    (${quoted(name)}, ${held.fprop === 'bf16' ? 'None' : constant(held.fprop)}),\n`).join('')}])


def apply(model):
    modules = dict(model.named_modules())
    wrong = [name for name in FQN_TO_CONFIG if not isinstance(modules.get(name), torch.nn.Linear)]
    if wrong:
        raise ValueError(f"{len(wrong)} of {len(FQN_TO_CONFIG)} layers are missing or no nn.Linear, such as {wrong[0]}")
    quantize_(model, FqnToConfig(FQN_TO_CONFIG), filter_fn=None)
    return model
`;
}

export const torchaoFqn = layerTarget({
  id: 'torchao',
  label: 'torchao FqnToConfig',
  sentence: 'Python map for quantize_: inference and QAT, a format a layer.',
  preset: 'hf-gpt2',
  library: 'torchao FqnToConfig',
  fileEnding: 'torchao.py',
  mediaType: 'text/x-python',
  scope: 'module',
  isInference: true,
  formats: FORMATS,
  usage: () => ['apply(model) on a BF16 model whose layers are nn.Linear; GPT-2 of Hugging Face has Conv1D, to be replaced first', 'inference and QAT run forward passes in these formats; no backward pass is low'],
  patterns: ({ layers }) => layers.map(({ name }) => ({ rule: 'exact', pattern: name })),
  text,
});
