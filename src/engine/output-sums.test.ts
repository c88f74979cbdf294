/**
 * Sums over one site's own output (formats.md 7) on a tiny GPT-2 with padded rows: against the float64 reference
 * on the device's own inputs, every pass and every output; |g| and the first-order score against finite differences of
 * the loss, which know nothing of a backward pass; the same bits however the work is cut and whatever ran before.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { philox4x32 } from '../base/random';
import { sharedGpu } from '../gpu/device-fixture';
import type { Gpu } from '../gpu/gpu';
import { OUT_SCHEME, REFERENCE_POLICY, type Policy, type PolicyOptions, type RecipeName, type SiteId } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import { paintableSites, parseSiteId } from '../graph/sites';
import type { Graph } from '../graph/types';
import { gpt2Graph } from '../models/gpt2';
import type { OutputSums } from './comparison';
import { unpackBf16, unpadRows } from './parameters';
import type { ReferenceCall } from './reference';
import { referenceGradient, type ReferenceRun } from './reference/gradient';
import { linearPass } from './reference/linear';
import { outTensor } from './reference/low-operand';
import { Session } from './session';
import { Values } from './values';

/** 37 tokens and an MLP of width 30: rows of both are padded on the device. */
const MLP = 30;
const plain = gpt2Graph({ model: 'tiny', layers: 2, width: 24, heads: 2, positions: 8, vocabulary: 37, eps: 1e-5 });
const narrowed = (n: number): number => (n === 4 * plain.width ? MLP : n);
const graph: Graph = {
  ...plain,
  nodes: plain.nodes.map((node) => ({ ...node, cols: narrowed(node.cols), inCols: narrowed(node.inCols) })),
  params: plain.params.map(({ name, shape }) => ({ name, shape: shape.map(narrowed) })),
};
const SHAPE = { sequences: 2, tokens: 3 };
const ROWS = SHAPE.sequences * SHAPE.tokens;
const TOKENS = [[[1, 5, 36, 2], [9, 9, 3, 30]], [[7, 0, 7, 11], [2, 31, 14, 4]]] as const;
const params = new Map(graph.params.map(({ name, shape }, i) => {
  const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, j) => (philox4x32([j, 0, 0, 0], [i, 0])[0] / 2 ** 31 - 1) * (name.endsWith('bias') ? 0.1 : 0.7));
  return [name, values];
}));
const values = new Values(graph);
const nodeOf = (id: string) => values.node(id);
const random = { step: 1, draw: 2 };

let gpu: Gpu;
let session: Session;
beforeAll(async () => {
  gpu = await sharedGpu();
  session = await Session.create(gpu, graph, params, SHAPE, { outs: { out: 'mx' } });
  session.setBatch(TOKENS[0]);
  await session.runReference();
});
afterAll(() => {
  session.dispose();
  expect(gpu.liveBuffers).toBe(0);
});

function lowering(site: SiteId, recipe: RecipeName, options: PolicyOptions): Policy {
  if (recipe === OUT_SCHEME) return { ...REFERENCE_POLICY, outs: [parseSiteId(graph, site).node], options };
  return { ...REFERENCE_POLICY, passes: { [site]: recipe }, options };
}

async function device(key: string, cols: number): Promise<Float64Array> {
  return Float64Array.from(unpadRows(unpackBf16(new Uint32Array(await session.readValue(key))), [ROWS, cols]));
}

/** A site's outputs, low and high, in float64 from what the device gave its pass; and the gradient that arrives there. */
async function outputs(site: SiteId, recipe: RecipeName, options: PolicyOptions): Promise<{ low: Float64Array; high: Float64Array; g: Float64Array | null }> {
  const { node: id, pass } = parseSiteId(graph, site);
  const node = nodeOf(id);
  const g = await device(values.arriving(id), node.cols);
  if (pass === 'out') {
    const high = await device(values.y(id), node.cols);
    return { high, low: outTensor(high, ROWS, node.cols, 'x', recipeOptions(recipe, options)), g };
  }
  const call: ReferenceCall = {
    attrs: node, ...SHAPE, rounding: 'bf16', options, tensorNumber: graph.nodes.indexOf(node), draw: random,
    inputs: [await device(values.y(node.inputs[0] ?? ''), node.inCols)],
    params: { weight: Float64Array.from(params.get(node.params['weight'] ?? '') ?? []) },
  };
  const low = { [pass]: recipe };
  return { high: linearPass(call, pass, g), low: linearPass({ ...call, low }, pass, g), g: pass === 'fprop' ? g : null };
}

const near = (actual: number | undefined, expected: number, within: number, what: string): void => {
  expect(expected, what).toBeGreaterThan(0);
  expect(Math.abs((actual ?? NaN) / expected - 1), `${what}: ${String(actual)} against ${expected}`).toBeLessThan(within);
};

/** FP32 sums of GEMMs and of squares; differences of two GEMMs lose up to two digits more. */
const F32 = 1e-5;
const DIFFERENCE = 1e-4;

describe.each<[RecipeName, PolicyOptions]>([['nvfp4', {}], ['nvfp4', { rht: true, sr: true, seed: 3 }], ['fp8', {}], ['mxfp8', { e5m2Grad: true }], ['fp8-out', {}], ['fp8-out', { out: 'mx' }]])('%s %j', (recipe, options) => {
  it.each(paintableSites(graph, recipe).map(({ id }) => id))('%s: as in float64, padding left out', async (site) => {
    const found = await session.measureOutput(site, lowering(site, recipe, options), random);
    const { low, high, g } = await outputs(site, recipe, options);
    let [dd, rr, gd, gg] = [0, 0, 0, 0];
    high.forEach((y, i) => {
      const [d, w] = [(low[i] ?? NaN) - y, g?.[i] ?? 0];
      dd += d ** 2;
      rr += y ** 2;
      gd += (w * d) ** 2;
      gg += w ** 2;
    });
    expect(found.elements).toBe(high.length);
    expect(found.nonFinite).toBe(0);
    near(found.rr, rr, F32, '|y|^2');
    near(found.dd, dd, DIFFERENCE, '|d|^2');
    expect(found.arriving === null).toBe(g === null);
    if (g === null) return;
    near(found.arriving?.gg, gg, F32, '|g|^2');
    near(found.arriving?.gd, gd, DIFFERENCE, '(g d)^2');
  });
});

describe('the gradient that weighs an error is the loss\'s own', () => {
  const run = (flip?: { node: string; index: number }): ReferenceRun =>
    referenceGradient(graph, params, TOKENS[0].map((row) => [...row]), { ...REFERENCE_POLICY, reference: 'fp32' }, { trace: true, ...(flip ? { flip: { ...flip, what: 'y' } } : {}) });
  const traced = (found: ReferenceRun, key: string): Float64Array => found.trace.get(key) ?? new Float64Array();

  // One reader; two readers; a sum; the logits. BF16 rounds the device's gradient, some 0.2 % an element, and its inputs.
  it.each(['h.1.mlp.c_fc:fprop', 'h.0.attn.c_proj:fprop', 'h.0.res_1:out', 'lm_head:out'])('%s: each element moved in turn', async (site) => {
    const { node: id, pass } = parseSiteId(graph, site);
    const [recipe, options] = pass === 'out' ? [OUT_SCHEME, {}] as const : ['nvfp4', {}] as const;
    const consumer = values.consumers(id)[0];
    const base = run();
    const y = traced(base, `${id}/y`);
    const slopes = Float64Array.from(y, (before, index) => {
      const moved = run({ node: id, index });
      const step = (traced(moved, `${consumer?.node.id ?? ''}/x${consumer?.port ?? 0}`)[index] ?? NaN) - before;
      return (moved.loss - base.loss) / step;
    });
    const { low, high } = await outputs(site, recipe, options);
    const found = await session.measureOutput(site, lowering(site, recipe, options), random);
    near(found.arriving?.gg, slopes.reduce((sum, s) => sum + s * s, 0), 0.02, '|g|^2');
    near(found.arriving?.gd, slopes.reduce((sum, s, i) => sum + (s * ((low[i] ?? NaN) - (high[i] ?? NaN))) ** 2, 0), 0.02, '(g d)^2');
  });
});

describe('the same bits', () => {
  const SITES: [SiteId, RecipeName, PolicyOptions][] = [
    ['h.0.mlp.c_fc:fprop', 'nvfp4', {}], ['h.1.attn.c_attn:dgrad', 'nvfp4', { sr: true }], ['h.0.attn.c_proj:wgrad', 'nvfp4', { rht: true, sr: true }],
    ['h.1.mlp.act:out', 'fp8-out', {}], ['lm_head:out', 'fp8-out', { out: 'mx' }],
  ];
  const all = async (on: Session): Promise<OutputSums[]> => {
    const found: OutputSums[] = [];
    for (const [site, recipe, options] of SITES) found.push(await on.measureOutput(site, lowering(site, recipe, options), random));
    return found;
  };

  it('cut into the smallest submissions, after other runs, on another batch and back, in another session', async () => {
    const first = await all(session);
    expect(new Set(first.map(({ dd }) => dd)).size).toBe(SITES.length);
    await session.runVariant({ policy: lowering('h.0.attn.c_attn:fprop', 'nvfp4', {}) });
    expect(await all(session)).toEqual(first);
    const other = await Session.create(gpu, graph, params, SHAPE, { outs: { out: 'mx' }, batches: 2 }, 1e-6);
    try {
      for (const place of [0, 1]) {
        other.setBatch(TOKENS[place] ?? [], place);
        await other.runReference();
      }
      expect(await all(other)).not.toEqual(first);
      other.setBatch(TOKENS[0], 0);
      expect(await all(other)).toEqual(first);
    } finally {
      other.dispose();
    }
  });
});

describe('what is not finite', () => {
  it('is counted: an operand, an output and the gradient that arrives', async () => {
    const planted = new Map(params);
    planted.set('h.1.mlp.c_fc.bias', Float32Array.from(params.get('h.1.mlp.c_fc.bias') ?? [], (x, i) => (i === 0 ? 3.4e38 : x)));
    const broken = await Session.create(gpu, graph, planted, SHAPE, { outs: {} });
    try {
      broken.setBatch(TOKENS[0]);
      await broken.runReference();
      // The column is Inf after the bias; the pass itself is finite, what arrives at it is not.
      const pass = await broken.measureOutput('h.1.mlp.c_fc:fprop', lowering('h.1.mlp.c_fc:fprop', 'nvfp4', {}));
      expect(pass.nonFinite).toBeGreaterThan(0);
      const operand = await broken.measureOutput('h.1.mlp.c_proj:fprop', lowering('h.1.mlp.c_proj:fprop', 'nvfp4', {}));
      expect(operand.nonFinite).toBeGreaterThanOrEqual(ROWS);
      const out = await broken.measureOutput('h.1.ln_2:out', lowering('h.1.ln_2:out', 'fp8-out', {}));
      expect(out.nonFinite).toBeGreaterThan(0);
    } finally {
      broken.dispose();
    }
  });

  it('needs the reference run, and a session made for variants', async () => {
    const fresh = await Session.create(gpu, graph, params, SHAPE);
    try {
      await expect(fresh.measureOutput('h.0.mlp.c_fc:fprop', lowering('h.0.mlp.c_fc:fprop', 'nvfp4', {}))).rejects.toThrow('measureOutput: run the reference policy first');
    } finally {
      fresh.dispose();
    }
  });
});
