/**
 * Test support: angles that PyTorch measured (e2e/golden/<model>/angles.json), as a probe would report them. Their first
 * entry a batch is the arithmetic of method.md 2.
 */
import { readFileSync } from 'node:fs';
import { angleOfTanSquared, tanSquared } from '../base/angle';
import type { RecipeName, SiteId } from '../graph/policy';
import type { SiteResult } from '../graph/probe-record';
import type { Graph } from '../graph/types';
import { costedSites, floorTan2 } from './cost';
import type { Evidence } from './cost';
import { costTable } from './costs';
import type { PlanQuestion } from './plan';

type Batches = readonly (readonly { readonly angle_deg: number }[])[];
interface Golden {
  readonly sites: Readonly<Record<string, Readonly<Record<SiteId, Batches>>>>;
  readonly joint: Readonly<Record<string, Batches>>;
  readonly floor_forward_deg: readonly (readonly number[])[];
  readonly floor_backward_deg: readonly (readonly number[])[];
}

function golden(model: 'nano' | 'mini'): Golden {
  return JSON.parse(readFileSync(new URL(`../../e2e/golden/${model}/angles.json`, import.meta.url), 'utf8')) as Golden;
}

/** atan(sqrt(mean tan^2)), the way several batches become one angle. */
function pooled(angles: readonly number[]): number {
  return angleOfTanSquared(angles.reduce((sum, angle) => sum + tanSquared(angle), 0) / angles.length);
}

function angleOf(batches: Batches | undefined): number {
  return batches ? pooled(batches.map((batch) => batch[0]?.angle_deg ?? NaN)) : NaN;
}

/** Floors and every site of a recipe. */
export function goldenEvidence(model: 'nano' | 'mini', graph: Graph, recipe: RecipeName): Evidence {
  const { floor_forward_deg: forward, floor_backward_deg: backward, sites } = golden(model);
  const floor = { forwardDeg: pooled(forward.flat()), backwardDeg: pooled(backward.flat()), perRun: [] };
  const results = costedSites(graph, recipe).map(({ id, pass }): [SiteId, SiteResult] => {
    const angleDeg = angleOf(sites[recipe]?.[id]);
    const cleanAngleDeg = angleOfTanSquared(Math.max(0, tanSquared(angleDeg) - floorTan2({ floor, sites: {} }, pass)));
    return [id, {
      status: 'measured', angleDeg, cleanAngleDeg, angleSeDeg: 0, belowNoise: false, relativeShift: 0, lengthRatio: 1, rotationShare: 1, lossChange: 0,
      localError: null, blockAngleDeg: {}, layerAngleDeg: {}, perBatch: [], elapsedMs: 0,
    }];
  });
  return { floor, sites: Object.fromEntries(results) };
}

/** Joint angle in degrees of what a key of the file names, such as `nvfp4:fprop` or `fp8-out:all`. */
export function goldenJoint(model: 'nano' | 'mini', key: string): number {
  return angleOf(golden(model).joint[key]);
}

/** The solver's question about one recipe, paid by its own kind of cost. */
export function ownQuestion(graph: Graph, recipe: RecipeName, evidence: Evidence): PlanQuestion {
  const sites = costedSites(graph, recipe);
  return { sites, low: [{ format: recipe, evidence }], costs: costTable(graph, sites, [recipe], {}, { kind: recipe === 'fp8-out' ? 'cache' : 'gemm' }), groups: [] };
}
