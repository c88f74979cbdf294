/**
 * Test support: GPT-2 small and XL, the golden lists of their layer names (e2e/golden/exports), and plans of every kind that
 * a file must hold: all low, all high, alternating, one pass high, block protection, random, several formats.
 */
import { readFileSync } from 'node:fs';
import { hashOf } from '../../base/canonical-json';
import { philox4x32 } from '../../base/random';
import { PASS_SCHEMES, type PassScheme, type PolicyOptions, type RecipeName, type SiteFormat } from '../../graph/policy';
import type { Graph } from '../../graph/types';
import { gpt2Graph } from '../../models/gpt2';
import { costedSites, type CostedSite } from '../cost';
import { presetPlan, presets, type Plan } from '../plan';
import type { ExportContext } from './export-target';
import type { NamePresetId } from './names';

export type Depth = 12 | 48;

const GRAPHS: Readonly<Record<Depth, Graph>> = {
  12: gpt2Graph({ model: 'gpt2', layers: 12, width: 768, heads: 12, positions: 1024, vocabulary: 50257, eps: 1e-5 }),
  48: gpt2Graph({ model: 'gpt2-xl', layers: 48, width: 1600, heads: 25, positions: 1024, vocabulary: 50257, eps: 1e-5 }),
};

export function namesFile(spelling: NamePresetId, depth: Depth): URL {
  return new URL(`../../../e2e/golden/exports/names/${spelling}-${depth}.txt`, import.meta.url);
}

export function goldenNames(spelling: NamePresetId, depth: Depth): string[] {
  return readFileSync(namesFile(spelling, depth), 'utf8').trim().split('\n');
}

export function contextOf(depth: Depth, recipe: RecipeName = 'nvfp4', options: PolicyOptions = {}): ExportContext {
  return { graph: GRAPHS[depth], recipe, options, modelSha256: hashOf('weights'), facts: { sites: {}, floor: null, provenance: null, joint: {} } };
}

/** A plan over the block linears, by a function of the site. */
export function planOf(name: string, depth: Depth, format: (site: CostedSite, index: number, layer: number) => SiteFormat): Plan {
  const sites = costedSites(GRAPHS[depth], 'nvfp4');
  return { name, notes: '', locked: {}, formats: Object.fromEntries(sites.map((site, i) => [site.id, format(site, i, layerOf(site))])) };
}

function layerOf({ node }: CostedSite): number {
  return Number(node.split('.')[1]);
}

const draw = (seed: number, i: number): number => philox4x32([i, 0, 0, 0], [seed, 5])[0];

/** Plans with one low format. */
export function plansOf(depth: Depth, low: PassScheme): Plan[] {
  const sites = costedSites(GRAPHS[depth], low);
  const [first, last] = depth === 12 ? [0, 2] : [2, 6];
  return [
    ...presets(low).map((preset) => presetPlan(preset, sites, low)),
    planOf('alternating sites', depth, (_, i) => (i % 2 === 0 ? low : 'bf16')),
    planOf('alternating layers', depth, (_, __, layer) => (layer % 2 === 0 ? low : 'bf16')),
    planOf('block protection', depth, (_, __, layer) => (layer < first || layer >= depth - last ? 'bf16' : low)),
    planOf('layer 1 high', depth, (_, __, layer) => (layer === 1 ? 'bf16' : low)),
    planOf('layer 1 low', depth, (_, __, layer) => (layer === 1 ? low : 'bf16')),
    planOf('one site high', depth, ({ id }) => (id === 'h.1.mlp.c_fc:wgrad' ? 'bf16' : low)),
    planOf('one kind high', depth, ({ node }) => (node.endsWith('mlp.c_proj') ? 'bf16' : low)),
    ...[1, 2, 3, 4].map((seed) => planOf(`random ${seed}`, depth, (_, i) => (draw(seed, i) % (seed + 1) === 0 ? 'bf16' : low))),
    ...[5, 6].map((seed) => planOf(`random layers ${seed}`, depth, ({ node }, _, layer) => (draw(seed, 64 * layer + node.length) % 2 === 0 ? 'bf16' : low))),
  ];
}

/** Plans with several low formats. */
export function mixedPlans(depth: Depth): Plan[] {
  const all: readonly SiteFormat[] = ['bf16', ...PASS_SCHEMES];
  return [
    planOf('MLP NVFP4, attention MXFP8', depth, ({ node }) => (node.includes('.mlp.') ? 'nvfp4' : 'mxfp8')),
    planOf('forward FP8, backward NVFP4', depth, ({ pass }) => (pass === 'fprop' ? 'fp8' : 'nvfp4')),
    planOf('thirds', depth, (_, i) => (['nvfp4', 'mxfp8', 'bf16'] as const)[i % 3] ?? 'bf16'),
    planOf('every format by layer', depth, (_, __, layer) => all[layer % all.length] ?? 'bf16'),
    ...[7, 8].map((seed) => planOf(`random formats ${seed}`, depth, (_, i) => all[draw(seed, i) % all.length] ?? 'bf16')),
  ];
}
