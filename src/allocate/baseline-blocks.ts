/**
 * Block protection (formats.md 4.1): all three passes of every linear in the first a and the last b transformer layers stay
 * in BF16, the rest is low. The 16 % rule reproduces the NVFP4 pretraining paper's 2 + 8 of 62 blocks (arXiv 2509.25149);
 * the other presets are that paper's ablations and Megatron's defaults.
 */
import type { SiteId } from '../graph/policy';
import { RECIPES } from '../graph/recipes';
import { sites, type Site } from '../graph/sites';
import type { BaselineInputs, BaselineMethod } from './baseline-method';
import type { Formats } from './cost';
import { formatsWhere } from './plan';

/** How many layers at either end stay in BF16. */
export interface ProtectedBlocks {
  readonly first: number;
  readonly last: number;
}

/** n layers in the paper's proportion: a fifth of them first, halves rounded up (as Math.round does). */
export function splitBlocks(n: number): ProtectedBlocks {
  const first = Math.round(n / 5);
  return { first, last: n - first };
}

/** The 16 % rule: 10 layers of 62, at least one. */
export function sixteenPercent(layers: number): ProtectedBlocks {
  return splitBlocks(Math.max(1, Math.round((10 * layers) / 62)));
}

const isProtected = (layer: number | null, layers: number, { first, last }: ProtectedBlocks): boolean => layer !== null && (layer < first || layer >= layers - last);

function layersOf({ graph }: BaselineInputs): (id: SiteId) => number | null {
  const layerOf = new Map(sites(graph).map(({ id, layer }: Site) => [id, layer]));
  return (id) => layerOf.get(id) ?? null;
}

function blockFormats(inputs: BaselineInputs, blocks: ProtectedBlocks): Formats {
  const { graph, recipe, sites: costed } = inputs;
  const layerOf = layersOf(inputs);
  return formatsWhere(costed, ({ id }) => isProtected(layerOf(id), graph.layers, blocks), recipe);
}

/** The most blocks, in the paper's proportion, that the budget pays for; null when it does not even pay for everything low. */
function blocksWithin(inputs: BaselineInputs, budget: number): ProtectedBlocks | null {
  const { graph, recipe, sites: costed, costs } = inputs;
  const layerOf = layersOf(inputs);
  // What keeping a layer in BF16 adds to everything low; whole numbers, so their sums are exact.
  const added = new Array<number>(graph.layers).fill(0);
  let low = 0;
  for (const { id } of costed) {
    const [layer, cost] = [layerOf(id), costs.of(id, recipe)];
    low += cost;
    if (layer !== null) added[layer]! += costs.of(id, 'bf16') - cost;
  }
  for (let n = graph.layers; n >= 0; n--) {
    const blocks = splitBlocks(n);
    if (added.reduce((sum, extra, layer) => sum + (isProtected(layer, graph.layers, blocks) ? extra : 0), low) <= budget) return blocks;
  }
  return null;
}

function preset(id: string, name: string, sentence: string, blocks: (layers: number) => ProtectedBlocks): BaselineMethod {
  return {
    id, name, sentence, kind: 'fixed', scoreName: null,
    appliesTo: (recipe) => RECIPES[recipe].kind === 'pass',
    formats: (inputs) => blockFormats(inputs, blocks(inputs.graph.layers)),
    score: () => null,
  };
}

export const BLOCK_METHODS: readonly BaselineMethod[] = [
  preset('block-16', 'Blocks, 16 % rule', 'The first a and the last b layers stay in BF16, 16 % of all, most of them at the end.', sixteenPercent),
  {
    id: 'block', name: 'Blocks within the budget', sentence: 'As many first and last layers as the budget pays for stay in BF16, in the proportion of the 16 % rule.',
    kind: 'budget', scoreName: null,
    appliesTo: (recipe) => RECIPES[recipe].kind === 'pass',
    formats(inputs, budget) {
      const blocks = blocksWithin(inputs, budget);
      return blocks === null ? { reason: 'even everything low costs more than the budget' } : blockFormats(inputs, blocks);
    },
    score: () => null,
  },
  preset('last-20', 'Last 20 % of the layers', 'The last fifth of the layers stays in BF16, rounded up.', (layers) => ({ first: 0, last: Math.ceil(layers / 5) })),
  preset('megatron', 'Megatron, first and last layer', 'The first and the last layer stay in BF16, the defaults of Megatron.', () => ({ first: 1, last: 1 })),
  preset('fp8-paper', 'First layer and last two', 'The first layer and the last two stay in BF16, as in the FP8 runs of the NVFP4 paper.', () => ({ first: 1, last: 2 })),
];
