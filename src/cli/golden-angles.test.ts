/**
 * Isolated and joint angles of every recipe against the PyTorch reference's (e2e/golden/*, arithmetic 0 = float64 sums),
 * same tokens. Here, on gpt2-nano: nvfp4, the Hadamard passes and fp8-out on all four batches, the other recipes on the first, all
 * joints on all. BENDSCOPE_NUMBERS=1 (npm run numbers) measures every site on every batch, and gpt2-mini.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { poolAngles } from '../base/angle';
import { spearman } from '../base/rank';
import { Session } from '../engine/session';
import type { Gpu } from '../gpu/gpu';
import { sharedGpu } from '../gpu/device-fixture';
import type { ProbeRun } from '../graph/ledger';
import { floorOf } from '../graph/noise-floor';
import type { PolicyOptions, RecipeName, SiteId } from '../graph/policy';
import type { Measured, NoiseFloor, SiteResult } from '../graph/probe-record';
import { paintableSites, type Site } from '../graph/sites';
import { PASSES, type Pass } from '../graph/types';
import { policyLowering } from '../probe/low-sites';
import { Probe } from '../probe/probe';
import { sessionUse } from '../probe/session-use';
import { builtIn, readJson } from './golden';

interface GoldenMeasure { angle_deg: number; relative_shift: number; length_ratio: number; rotation_share: number; loss_change: number }
/** value[batch][arithmetic] */
type GoldenRuns = GoldenMeasure[][];
interface GoldenAngles {
  reference_loss: number[][];
  sites: Record<string, Record<SiteId, GoldenRuns>>;
  joint: Record<string, GoldenRuns>;
  local_error: Record<string, Record<SiteId, number>>;
}

interface GoldenRecipe {
  /** Its name in angles.json. */
  readonly key: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  /** Which limits hold: those of the FP4 formats, or those of the FP8 formats and op groups, whose angles are smaller. */
  readonly limits: 'fp4' | 'fp8';
  /** Passes that differ from nvfp4's; the others are not run again. */
  readonly own?: readonly Pass[];
  /** Batches that `npm test` runs. */
  readonly batches: number;
}

const RECIPES: readonly GoldenRecipe[] = [
  { key: 'nvfp4', recipe: 'nvfp4', options: {}, limits: 'fp4', batches: 4 },
  { key: 'nvfp4-1d', recipe: 'nvfp4', options: { weights1d: true }, limits: 'fp4', own: ['fprop', 'dgrad'], batches: 1 },
  { key: 'nvfp4-rht', recipe: 'nvfp4', options: { rht: true }, limits: 'fp4', own: ['wgrad'], batches: 4 },
  { key: 'mxfp4', recipe: 'mxfp4', options: {}, limits: 'fp4', batches: 1 },
  { key: 'fp8', recipe: 'fp8', options: {}, limits: 'fp8', batches: 1 },
  { key: 'fp8-block', recipe: 'fp8-block', options: {}, limits: 'fp8', batches: 1 },
  { key: 'mxfp8', recipe: 'mxfp8', options: {}, limits: 'fp8', batches: 1 },
  { key: 'fp8-out', recipe: 'fp8-out', options: {}, limits: 'fp8', batches: 4 },
];
const LIMITS = {
  nano: { fp4: { spearman: 0.995, median: 0.005, largest: 0.03, joint: 0.02 }, fp8: { median: 0.01, largest: 0.08, joint: 0.03 } },
  mini: { fp4: { spearman: 0.995, median: 0.01, largest: 0.06, joint: 0.03 }, fp8: { median: 0.02, largest: 0.08, joint: 0.03 } },
};
const FULL = Boolean(process.env['BENDSCOPE_NUMBERS']);
const MODELS = FULL ? (['nano', 'mini'] as const) : (['nano'] as const);

let gpu: Gpu;
beforeAll(async () => {
  gpu = await sharedGpu();
});
afterAll(() => expect(gpu.liveBuffers).toBe(0));

const measured = (result: SiteResult | undefined): Measured => {
  if (result?.status !== 'measured') throw new Error(`expected a measured result, got ${JSON.stringify(result)}`);
  return result;
};
/** Pooled over the first `count` batches. */
const pooledGolden = (runs: GoldenRuns | undefined, count: number, arithmetic: 0 | 1 = 0): number => poolAngles((runs ?? []).slice(0, count).map((batch) => batch[arithmetic]?.angle_deg ?? NaN)).angleDeg;
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;

describe.each(MODELS)('gpt2-%s', (name) => {
  const { graph, params, batches } = builtIn(name);
  const golden = readJson<GoldenAngles>(`e2e/golden/${name}/angles.json`);
  const shape = { sequences: batches[0]?.length ?? 0, tokens: (batches[0]?.[0]?.length ?? 1) - 1 };
  const run: ProbeRun = { kind: 'probe', recipe: 'nvfp4', outs: {}, batches: batches.length };
  let session: Session;
  let floor: NoiseFloor;
  /** A probe over the first `count` batches, on the one session. */
  const probeOf = async (count: number): Promise<Probe> => {
    const probe = new Probe(session, batches.slice(0, count), run);
    await probe.measureFloor({}, floor);
    return probe;
  };

  beforeAll(async () => {
    session = await Session.create(gpu, graph, params, shape, sessionUse(run));
    const probe = new Probe(session, batches, run);
    const losses = await probe.referenceLosses();
    losses.forEach((loss, k) => expect(Math.abs(loss - (golden.reference_loss[k]?.[0] ?? NaN))).toBeLessThan(1e-3));
    floor = await probe.measureFloor();
  }, 3_600_000);
  afterAll(() => session.dispose());

  describe.each(RECIPES)('$key', ({ key, recipe, options, own, ...row }) => {
    const limits = LIMITS[name][row.limits];
    const count = FULL ? batches.length : row.batches;
    const all = paintableSites(graph, recipe);
    const isOwn = ({ pass }: Site): boolean => FULL || own === undefined || own.some((known) => known === pass);
    const ids = all.filter(isOwn).map(({ id }) => id);
    const goldenSites = golden.sites[key];
    const found = new Map<SiteId, Measured>();

    /** Whether its angle stands clear of the floor, so that it says something about the site. */
    const isClear = (id: SiteId): boolean => row.limits === 'fp4' || pooledGolden(goldenSites?.[id], count) > 3 * floorOf(all.find((site) => site.id === id)?.pass ?? 'out', floor);

    // The goldens of mini hold the sites of nvfp4 and fp8-out, and joints of every recipe.
    if (goldenSites) it('isolated angles: rank, median and largest difference', { timeout: 7_200_000 }, async () => {
      const probe = await probeOf(count);
      await probe.measureSites(ids, recipe, options, { persistent: false }, { onSite: (site, result) => void found.set(site, measured(result)) });
      expect(Object.keys(goldenSites).sort()).toEqual(all.map(({ id }) => id).sort());
      const ours = ids.map((id) => found.get(id)?.angleDeg ?? NaN);
      const ideal = ids.map((id) => pooledGolden(goldenSites[id], count));
      const relative = (angles: number[]): number[] => angles.map((angle, i) => Math.abs(angle / (ideal[i] ?? NaN) - 1));
      const clear = (values: number[]): number[] => values.filter((_, i) => isClear(ids[i] ?? ''));
      const [mine, theirs] = [relative(ours), relative(ids.map((id) => pooledGolden(goldenSites[id], count, 1)))];
      console.log(`gpt2-${name} ${key}, ${ids.length} sites, ${clear(mine).length} clear, ${count} batches: Spearman ${spearman(ours, ideal).toFixed(4)}, median ${percent(median(mine))}, largest ${percent(Math.max(...clear(mine)))} `
        + `(PyTorch f32: median ${percent(median(theirs))}, largest ${percent(Math.max(...clear(theirs)))})`);
      if ('spearman' in limits) expect(spearman(ours, ideal)).toBeGreaterThanOrEqual(limits.spearman);
      expect(median(mine)).toBeLessThanOrEqual(limits.median);
      expect(Math.max(...clear(mine))).toBeLessThanOrEqual(limits.largest);
    });

    if (goldenSites) it('shift, length, rotation and loss change of each batch', () => {
      expect(found.size).toBe(ids.length);
      // Two right losses differ: the reference's own two arithmetics by up to 0.001 on nano, 0.005 on mini (lm_head:out).
      const lossLimit = Math.max(2e-3, ...Object.values(goldenSites).flat().map(([ideal, f32]) => Math.abs((f32?.loss_change ?? NaN) - (ideal?.loss_change ?? NaN))));
      for (const [id, site] of found) {
        site.perBatch.forEach((ours, k) => {
          const theirs = goldenSites[id]?.[k]?.[0];
          if (!theirs) throw new Error(`${id}: no batch ${k}`);
          // The reference's own two arithmetics differ by up to 3 % in the shift; what derives from it is held to that.
          if (isClear(id)) expect(Math.abs(ours.relativeShift / theirs.relative_shift - 1), id).toBeLessThan(0.1);
          expect(Math.abs(ours.lengthRatio - theirs.length_ratio), id).toBeLessThan(0.1 * theirs.relative_shift);
          expect(Math.abs(ours.rotationShare - theirs.rotation_share), id).toBeLessThan(0.05);
          expect(Math.abs(ours.lossChange - theirs.loss_change), id).toBeLessThan(lossLimit);
        });
      }
    });

    // Held to the limits of the angles: it too is taken where two right references lie 0.08 and 0.49 degrees apart, and
    // PyTorch's own float32 sums move it by up to 2.0 % on mini. The goldens hold none of op groups.
    const goldenErrors = golden.local_error[key];
    if (goldenErrors) it('local errors', () => {
      const relative = ids.map((id) => Math.abs((found.get(id)?.perBatch[0]?.localError ?? NaN) / (goldenErrors[id] ?? NaN) - 1));
      console.log(`gpt2-${name} ${key} local error: median ${percent(median(relative))}, largest ${percent(Math.max(...relative))}`);
      expect(median(relative)).toBeLessThanOrEqual(limits.median);
      expect(Math.max(...relative)).toBeLessThanOrEqual(limits.largest);
    });

    it('joint angles', { timeout: 3_600_000 }, async () => {
      const probe = await probeOf(batches.length);
      const isFixed = ({ group }: Site): boolean => ['wte', 'lm_head', 'ln_f', 'ln_1', 'ln_2'].includes(group);
      const joints: [string, readonly Site[]][] = recipe === 'fp8-out'
        ? [['all', all], ['fixed policy', all.filter((site) => !isFixed(site))]]
        : [...PASSES.map((pass) => [pass]), PASSES].map((passes) => [passes.join('+'), all.filter((site) => passes.some((pass) => pass === site.pass))]);
      for (const [joint, low] of joints.filter(([, sites]) => sites.some(isOwn))) {
        const result = measured(await probe.measureJoint(policyLowering(graph, low.map(({ id }) => id), recipe, options)));
        const runs = golden.joint[`${key}:${joint}`];
        const [ideal, f32] = [pooledGolden(runs, batches.length), pooledGolden(runs, batches.length, 1)];
        console.log(`gpt2-${name} ${key}:${joint}: ${result.angleDeg.toFixed(3)} against ${ideal.toFixed(3)} deg, ${percent(result.angleDeg / ideal - 1)} (PyTorch f32: ${percent(f32 / ideal - 1)})`);
        expect(Math.abs(result.angleDeg / ideal - 1)).toBeLessThanOrEqual(limits.joint);
      }
    });
  });
});
