/**
 * Model Explorer node data: a JSON overlay with one value a layer, `fprop bf16, dgrad nvfp4, wgrad nvfp4`, coloured by how
 * many of its passes are BF16. Keys are node ids or output tensor names of the graph that is shown.
 * Source: model-explorer `node_data_builder.py` (GraphNodeData).
 */
import { PASS_SCHEMES } from '../../graph/policy';
import { PASSES } from '../../graph/types';
import type { Header } from './header';
import { layerTarget, type HeldPlan } from './layer-target';

/** Background and text by the number of BF16 passes, 0 to 3: light to dark, with text that can be read on it. */
const SHADES = [['#ffffff', '#000000'], ['#c6dbef', '#000000'], ['#6baed6', '#000000'], ['#08519c', '#ffffff']] as const;

function text({ layers }: HeldPlan, { summary }: Header): string {
  const results = Object.fromEntries(layers.map(({ name, held }) => {
    const [bgColor, textColor] = SHADES[PASSES.filter((pass) => held[pass] === 'bf16').length] ?? SHADES[0];
    return [name, { value: PASSES.map((pass) => `${pass} ${held[pass]}`).join(', '), bgColor, textColor }];
  }));
  return `${JSON.stringify({ name: summary, results, showExpandedSummaryOnGroupNode: true }, null, 2)}\n`;
}

export const modelExplorer = layerTarget({
  id: 'model-explorer',
  label: 'Model Explorer node data',
  sentence: 'JSON overlay with the format of every pass.',
  preset: 'hf-gpt2',
  library: 'Model Explorer',
  fileEnding: 'model-explorer.json',
  mediaType: 'application/json',
  scope: 'gemm',
  formats: Object.fromEntries(PASS_SCHEMES.map((scheme) => [scheme, { multiple: 1 }])),
  usage: () => [],
  patterns: ({ layers }) => layers.map(({ name }) => ({ rule: 'exact', pattern: name })),
  text,
});
