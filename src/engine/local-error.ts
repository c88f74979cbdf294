/**
 * Local error of a site (method.md 7): the pass's own output from the reference's inputs, once low and once high,
 * unrounded and without bias; the caller compares the two scratch tensors.
 */
import { REFERENCE_POLICY, type Policy, type SiteId } from '../graph/policy';
import { parseSiteId } from '../graph/sites';
import { opContext } from './compile';
import { linearPass } from './ops/linear';
import { resource } from './ops/op';
import { tensorBytes, type Step } from './program';
import type { BatchShape, Values } from './values';

export interface LocalError {
  readonly steps: readonly Step[];
  /** Resources that hold the two outputs, FP32, and the bytes of each. */
  readonly low: string;
  readonly high: string;
  readonly bytes: number;
}

export function localError(values: Values, site: SiteId, policy: Policy, shape: BatchShape): LocalError {
  const { node, pass } = parseSiteId(values.graph, site);
  const spec = values.node(node);
  const n = shape.sequences * shape.tokens;
  const [rows, cols] = pass === 'fprop' ? [n, spec.cols] : pass === 'dgrad' ? [n, spec.inCols] : spec.weightTransposed ? [spec.cols, spec.inCols] : [spec.inCols, spec.cols];
  const outputOf = (name: string, p: Policy): Step => ({
    slot: `local-error/${name}/${site}`, variant: '', reads: [], writes: [],
    commands: linearPass(opContext(values, spec, p, shape), pass, { data: resource(name), bf16: false, bias: false }),
  });
  const [low, high] = ['scratch:local-low', 'scratch:local-high'] as const;
  return { steps: [outputOf(low, policy), outputOf(high, { ...REFERENCE_POLICY, reference: policy.reference })], low, high, bytes: tensorBytes(rows, cols, false) };
}
