/**
 * Isolated and joint angles against the PyTorch reference's (e2e/golden/*, arithmetic 0 = float64 sums), same tokens:
 * every NVFP4 pass of gpt2-nano here; BENDSCOPE_MINI=1 (npm run numbers) adds the 72 passes of gpt2-mini.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { poolAngles } from '../base/angle';
import type { Policy } from '../graph/policy';
import { paintableSites } from '../graph/sites';
import { PASSES } from '../graph/types';
import { Session } from '../engine/session';
import { openNodeDevice } from '../gpu/node-device';
import type { Gpu } from '../gpu/gpu';
import { Probe } from '../probe/probe';
import type { Measured, SiteResult } from '../graph/probe-record';
import { builtIn, readJson } from './golden';
import { spearman } from '../base/rank';

interface GoldenMeasure { angle_deg: number; relative_shift: number; length_ratio: number; rotation_share: number; loss_change: number }
/** value[batch][arithmetic] */
type GoldenRuns = GoldenMeasure[][];
interface GoldenAngles {
  reference_loss: number[][];
  sites: Record<string, Record<string, GoldenRuns>>;
  joint: Record<string, GoldenRuns>;
  local_error: Record<string, Record<string, number>>;
}

const LIMITS = {
  nano: { spearman: 0.995, median: 0.005, largest: 0.03, joint: 0.02 },
  mini: { spearman: 0.995, median: 0.01, largest: 0.06, joint: 0.03 },
};
const MODELS = process.env['BENDSCOPE_MINI'] ? (['nano', 'mini'] as const) : (['nano'] as const);

let gpu: Gpu;
beforeAll(async () => {
  gpu = await openNodeDevice();
});
afterAll(() => {
  expect(gpu.liveBuffers).toBe(0);
  gpu.device.destroy();
});

const pooledGolden = (runs: GoldenRuns, arithmetic: 0 | 1): number => poolAngles(runs.map((batch) => batch[arithmetic]?.angle_deg ?? NaN)).angleDeg;
const measured = (result: SiteResult | undefined): Measured => {
  if (result?.status !== 'measured') throw new Error(`expected a measured result, got ${JSON.stringify(result)}`);
  return result;
};
const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

describe.each(MODELS)('gpt2-%s NVFP4', (name) => {
  const limits = LIMITS[name];
  const { graph, params, batches } = builtIn(name);
  const golden = readJson<GoldenAngles>(`e2e/golden/${name}/angles.json`);
  const goldenSites = golden.sites['nvfp4'] ?? {};
  const found = new Map<string, Measured>();
  const joints = new Map<string, Measured>();

  beforeAll(async () => {
    const shape = { sequences: batches[0]?.length ?? 0, tokens: (batches[0]?.[0]?.length ?? 1) - 1 };
    const session = await Session.create(gpu, graph, params, shape, 'bf16', batches.length);
    try {
      const probe = new Probe(session, batches, batches.length);
      const losses = await probe.referenceLosses();
      losses.forEach((loss, k) => expect(Math.abs(loss - (golden.reference_loss[k]?.[0] ?? NaN))).toBeLessThan(1e-3));
      await probe.measureFloor();
      await probe.measureSites(paintableSites(graph).map((s) => s.id), 'nvfp4', {}, {
        onSite: (site, result) => {
          found.set(site, measured(result));
        },
      });
      for (const passes of [['fprop'], ['dgrad'], ['wgrad'], [...PASSES]]) {
        const low = paintableSites(graph).filter((s) => passes.includes(s.pass)).map((s) => [s.id, 'nvfp4'] as const);
        const policy: Policy = { reference: 'bf16', passes: Object.fromEntries(low), options: {} };
        joints.set(`nvfp4:${passes.join('+')}`, measured(await probe.measureJoint(policy)));
      }
    } finally {
      session.dispose();
    }
  }, 3_600_000);

  it('isolated angles: rank, median and largest difference', () => {
    const ids = Object.keys(goldenSites);
    expect(ids.length).toBe(12 * graph.layers);
    const ours = ids.map((id) => found.get(id)?.angleDeg ?? NaN);
    const ideal = ids.map((id) => pooledGolden(goldenSites[id] ?? [], 0));
    const f32 = ids.map((id) => pooledGolden(goldenSites[id] ?? [], 1));
    const relative = (a: number[]): number[] => a.map((x, i) => Math.abs(x / (ideal[i] ?? NaN) - 1));
    const [mine, theirs] = [relative(ours), relative(f32)];
    console.log(`gpt2-${name}: Spearman ${spearman(ours, ideal).toFixed(4)}, median ${(100 * median(mine)).toFixed(2)} %, largest ${(100 * Math.max(...mine)).toFixed(2)} % `
      + `(PyTorch f32: median ${(100 * median(theirs)).toFixed(2)} %, largest ${(100 * Math.max(...theirs)).toFixed(2)} %)`);
    expect(spearman(ours, ideal)).toBeGreaterThanOrEqual(limits.spearman);
    expect(median(mine)).toBeLessThanOrEqual(limits.median);
    expect(Math.max(...mine)).toBeLessThanOrEqual(limits.largest);
  });

  it('joint angles', () => {
    for (const [key, joint] of joints) {
      const ideal = pooledGolden(golden.joint[key] ?? [], 0);
      console.log(`gpt2-${name} ${key}: ${joint.angleDeg.toFixed(3)} against ${ideal.toFixed(3)} deg`);
      expect(Math.abs(joint.angleDeg / ideal - 1)).toBeLessThanOrEqual(limits.joint);
    }
  });

  it('shift, length, rotation, loss change and local error', () => {
    const localErrors: number[] = [];
    for (const [id, site] of found) {
      const runs = (goldenSites[id] ?? []).map((batch) => batch[0]);
      runs.forEach((run, k) => {
        const ours = site.perBatch[k];
        if (!run || !ours) throw new Error(`${id}: no batch ${k}`);
        // The reference's own two arithmetics differ by up to 3 % in the shift; what derives from it is held to that.
        expect(Math.abs(ours.relativeShift / run.relative_shift - 1)).toBeLessThan(0.1);
        expect(Math.abs(ours.lengthRatio - run.length_ratio)).toBeLessThan(0.1 * run.relative_shift);
        expect(Math.abs(ours.rotationShare - run.rotation_share)).toBeLessThan(0.05);
        expect(Math.abs(ours.lossChange - run.loss_change)).toBeLessThan(2e-3);
      });
      const goldenLocal = golden.local_error['nvfp4']?.[id] ?? NaN;
      localErrors.push(Math.abs((site.perBatch[0]?.localError ?? NaN) / goldenLocal - 1));
    }
    // Held to the limits of the angles: it too is taken where two right references lie 0.08 and 0.49 degrees apart, and
    // PyTorch's own float32 sums move it by up to 2.0 % on mini.
    console.log(`gpt2-${name} local error: median ${(100 * median(localErrors)).toFixed(2)} %, largest ${(100 * Math.max(...localErrors)).toFixed(2)} %`);
    expect(median(localErrors)).toBeLessThanOrEqual(limits.median);
    expect(Math.max(...localErrors)).toBeLessThanOrEqual(limits.largest);
  });
});
