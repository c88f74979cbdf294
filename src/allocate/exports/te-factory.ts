/**
 * TransformerEngine CustomRecipe: a Python file whose qfactory gives every tensor of a layer its quantizer, row and column
 * copy apart: fprop reads input.row and weight.row, dgrad grad_output.row and weight.column, wgrad grad_output.column and
 * input.column. Both operands of a GEMM read the same entry of TABLE, so they are of one family. The API is experimental.
 * Source: formats.md 6.2; TransformerEngine `pytorch/quantization.py`, `pytorch/tensor/hybrid_tensor.py`.
 */
import { PASSES } from '../../graph/types';
import type { Header } from './header';
import { layerTarget, type HeldPlan } from './layer-target';
import { quoted } from './patterns';
import { TE_FORMATS, teFormat, tokensMultiple } from './te-formats';

function text({ layers, schemes, options }: HeldPlan, { comment }: Header): string {
  const rows = schemes.map((scheme) => ({ scheme, quantizer: teFormat(scheme).quantizer, call: teFormat(scheme).quantize(options) }));
  const calls = rows.map(({ call }) => call).join();
  const classes = [...new Set(rows.map(({ quantizer }) => quantizer)), ...(calls.includes('DType.') ? ['DType'] : []), 'HybridQuantizer', 'IdentityQuantizer'].sort();
  return `${comment}
${calls.includes('torch.') ? 'import torch\n' : ''}from transformer_engine.pytorch import ${classes.join(', ')}

# layer -> format of fprop, dgrad, wgrad; a layer that is not here runs in BF16
TABLE = {
${layers.map(({ name, held }) => `    ${quoted(name)}: (${PASSES.map((pass) => quoted(held[pass])).join(', ')}),\n`).join('')}}
HIGH = ("bf16", "bf16", "bf16")
# tensor -> which of these GEMMs reads its row copy, which its column copy
USES = {"input": (0, 2), "weight": (0, 1), "grad_output": (1, 2)}
ASKED = set()


def make(family, tensor, column):
    """A new quantizer (HybridQuantizer takes it over); column: whether its column copy is read."""
    weight, grad = tensor == "weight", tensor == "grad_output"
${rows.map(({ scheme, call }) => `    if family == ${quoted(scheme)}:\n        return ${call}\n`).join('')}    return IdentityQuantizer()


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
`;
}

export const teFactory = layerTarget({
  id: 'te-factory',
  label: 'TransformerEngine recipe factory',
  sentence: 'Python for CustomRecipe: every GEMM in its own format; experimental API.',
  preset: 'te',
  library: 'TransformerEngine',
  fileEnding: 'te_factory.py',
  mediaType: 'text/x-python',
  scope: 'gemm',
  formats: TE_FORMATS,
  usage: ({ schemes }) => [
    'train with te.autocast(recipe=CustomRecipe(qfactory=qfactory)); every module needs a name=...',
    ...(schemes.length > 0 ? [`tokens a step in multiples of ${Math.max(...schemes.map((scheme) => tokensMultiple(teFormat(scheme))))}`] : []),
  ],
  patterns: ({ layers }) => layers.map(({ name }) => ({ rule: 'exact', pattern: name })),
  text,
});
