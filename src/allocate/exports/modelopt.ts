/**
 * NVIDIA Model Optimizer: a quant_cfg list for mtq.quantize, in which later entries override earlier ones; everything is
 * switched off first, then the layers of the plan are switched on by name (fnmatch on the quantizer's path). Post-training
 * quantization and QAT know forward passes only. Source: formats.md 6.5; Model-Optimizer `quantization/config.py`.
 */
import type { PassScheme } from '../../graph/policy';
import type { Header } from './header';
import { layerTarget, type HeldPlan, type LibraryFormat } from './layer-target';
import { escapeGlob, quoted } from './patterns';

const FORMATS: Readonly<Partial<Record<PassScheme, LibraryFormat & { readonly attributes: string }>>> = {
  nvfp4: {
    multiple: 16, attributes: '{"num_bits": (2, 1), "block_sizes": {-1: 16, "type": "dynamic", "scale_bits": (4, 3)}}',
    differs: ({ weights1d }) => (weights1d === true ? null : 'NVFP4 weights are scaled in blocks of 1x16, and the plan was measured with 16x16'),
  },
  mxfp8: { multiple: 32, attributes: '{"num_bits": (4, 3), "block_sizes": {-1: 32, "type": "dynamic", "scale_bits": (8, 0)}}' },
  mxfp4: { multiple: 32, attributes: '{"num_bits": (2, 1), "block_sizes": {-1: 32, "type": "dynamic", "scale_bits": (8, 0)}}' },
  fp8: { multiple: 1, attributes: '{"num_bits": (4, 3), "axis": None}', differs: () => 'FP8 scales of activations come from calibration, and the plan was measured with the scale of each tensor' },
};

function text({ layers, schemes }: HeldPlan, { comment }: Header): string {
  const constant = (scheme: PassScheme): string => scheme.toUpperCase();
  const entries = layers.flatMap(({ name, held }) => ['weight_quantizer', 'input_quantizer'].map((quantizer) => {
    const setting = held.fprop === 'bf16' ? '"enable": False' : `"cfg": ${constant(held.fprop)}`;
    return `        {"quantizer_name": ${quoted(escapeGlob(`${name}.${quantizer}`))}, ${setting}},\n`;
  }));
  return `${comment}
${schemes.map((scheme) => `${constant(scheme)} = ${FORMATS[scheme]?.attributes ?? ''}\n`).join('')}
QUANT_CFG = {
    "quant_cfg": [
        {"quantizer_name": "*", "enable": False},
${entries.join('')}    ],
    "algorithm": "max",
}
`;
}

export const modelopt = layerTarget({
  id: 'modelopt',
  label: 'Model Optimizer quant_cfg',
  sentence: 'Python list for mtq.quantize: forward passes, a format a layer.',
  preset: 'hf-gpt2',
  library: 'Model Optimizer',
  fileEnding: 'modelopt.py',
  mediaType: 'text/x-python',
  scope: 'forward',
  formats: FORMATS,
  usage: () => ['mtq.quantize(model, QUANT_CFG, forward_loop)'],
  patterns: ({ layers }) => layers.map(({ name }) => ({ rule: 'exact', pattern: name })),
  text,
});
