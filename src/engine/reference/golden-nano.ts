/**
 * gpt2-nano and the PyTorch reference's results on it (e2e/golden/nano), for the reference's own tests, which alone import this
 * file; an own safetensors reader, so that the oracle's test depends on no other code.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { gradientMetrics, gradientSums, type GradientMetrics } from '../../base/angle';
import { REFERENCE_POLICY, type PassScheme, type Policy, type PolicyOptions } from '../../graph/policy';
import { gpt2Graph } from '../../models/gpt2';
import { referenceGradient, type ReferenceRun, type ReferenceSettings } from './gradient';

export interface GoldenMetric {
  readonly angle_deg: number;
  readonly relative_shift: number;
  readonly length_ratio: number;
  readonly rotation_share: number;
  readonly loss_change: number;
}
/** value[batch][arithmetic], arithmetic 0 = float64 sums. */
type GoldenRuns = readonly (readonly GoldenMetric[])[];
interface Golden {
  readonly reference_loss: readonly (readonly number[])[];
  readonly sites: Readonly<Record<string, Readonly<Record<string, GoldenRuns>>>>;
  readonly joint: Readonly<Record<string, GoldenRuns>>;
  readonly local_error: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly floor_forward_deg: readonly (readonly number[])[];
  readonly floor_backward_deg: readonly (readonly number[])[];
  readonly flipped_nodes: readonly string[];
}

const read = (path: string): Buffer => readFileSync(new URL(`../../../${path}`, import.meta.url));

/** Tensors and metadata of a safetensors file of F32 and BF16 tensors. */
export function tensors(path: string): { values: Map<string, Float64Array>; metadata: Record<string, string> } {
  const file = read(path);
  const start = 8 + Number(file.readBigUInt64LE());
  const { __metadata__: metadata = {}, ...header } = JSON.parse(file.subarray(8, start).toString()) as Record<string, { dtype: string; data_offsets: [number, number] }>;
  const values = Object.entries(header).map(([name, { dtype, data_offsets: [from, to] }]): [string, Float64Array] => {
    const { buffer } = Uint8Array.from(file.subarray(start + from, start + to));
    if (dtype === 'F32') return [name, Float64Array.from(new Float32Array(buffer))];
    return [name, Float64Array.from(new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer))];
  });
  return { values: new Map(values), metadata: metadata as unknown as Record<string, string> };
}

export const graph = gpt2Graph({ model: 'gpt2-nano', layers: 2, width: 64, heads: 4, positions: 64, vocabulary: 1024, eps: 1e-5 });
export const params = tensors('public/models/gpt2-nano/model.safetensors').values;
export const batch = (JSON.parse(read('e2e/golden/nano/tokens.json').toString()) as { batches: number[][][] }).batches[0] ?? [];
export const golden = JSON.parse(read('e2e/golden/nano/angles.json').toString()) as Golden;

export function flat(run: ReferenceRun): Float64Array {
  return Float64Array.from(graph.params.flatMap(({ name }) => Array.from(run.gradient.get(name) ?? [])));
}

/** Batch 0 under a policy against its reference gradient: what a golden metric is. */
export function measure(policy: Policy, reference: ReferenceRun, settings: ReferenceSettings = {}): { metrics: GradientMetrics; lossChange: number } {
  const run = referenceGradient(graph, params, batch, policy, settings);
  return { metrics: gradientMetrics(gradientSums(flat(run), flat(reference))), lossChange: run.loss - reference.loss };
}

/** Six significant digits, as the golden holds them. */
export function nearSixDigits(actual: number, expected: number | undefined, what = ''): void {
  expect(Math.abs(actual - (expected ?? NaN)), `${what}: ${actual} against ${expected}`).toBeLessThanOrEqual(5.1e-6 * Math.abs(expected ?? NaN));
}

/** These passes in one scheme, the rest the reference. */
export function lowPolicy(scheme: PassScheme, sites: readonly string[], options: PolicyOptions = {}): Policy {
  return { ...REFERENCE_POLICY, passes: Object.fromEntries(sites.map((id) => [id, scheme])), options };
}
