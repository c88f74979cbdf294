/**
 * Local error of a site (method.md 7). Of a pass: its own output from the reference's inputs, once low and once high,
 * unrounded and without bias. Of a `:out` site: the reference's output as its consumers would read it back, against itself.
 * The caller compares the two tensors, and weighs their difference by the gradient that arrives there (formats.md 7).
 */
import { REFERENCE_POLICY, type Policy, type SiteId } from '../graph/policy';
import { parseSiteId } from '../graph/sites';
import type { GraphNode, Pass } from '../graph/types';
import { opContext, type RunSettings } from './compile';
import { linearPass } from './ops/linear';
import { resource, value } from './ops/op';
import { roundTrip } from './packed-cache';
import { tensorBytes, type Binding, type Step, type ValueKey } from './program';
import { Values, type BatchShape } from './values';

export interface LocalError {
  readonly site: SiteId;
  readonly steps: readonly Step[];
  /** The two outputs: FP32, or BF16 of a `:out` site. */
  readonly low: Binding;
  readonly high: Binding;
  readonly bf16: boolean;
  readonly quads: number;
  /** Without what pads rows to whole quads; the padding is zero in both outputs and in what arrives. */
  readonly elements: number;
  /** The reference's gradient at the output, BF16; null where the output is itself a gradient (dgrad, wgrad). */
  readonly arriving: ValueKey | null;
}

/** reference: the values of the reference policy, whose tensors a local error starts from. */
export function localError(reference: Values, site: SiteId, policy: Policy, shape: BatchShape, { random }: RunSettings = {}): LocalError {
  const { node: id, pass } = parseSiteId(reference.graph, site);
  const node = reference.node(id);
  const rows = shape.sequences * shape.tokens;
  if (pass === 'out') {
    const rounded = roundTrip(new Values(reference.graph, policy), node, shape);
    return { site, steps: [rounded.step], low: rounded.out, high: value(reference.y(id)), bf16: true, quads: tensorBytes(rows, node.cols, true) / 8, elements: rows * node.cols, arriving: reference.arriving(id) };
  }
  const outputOf = (out: Binding, p: Policy): Step => ({
    slot: `local-error/${site}`, variant: '', reads: [], writes: [],
    commands: linearPass(opContext(reference, node, p, shape, random), pass, { data: out, bf16: false, bias: false }),
  });
  const [low, high] = [resource('scratch:local-low'), resource('scratch:local-high')];
  const [outRows, cols] = outputSize(node, pass, rows);
  return {
    site, steps: [outputOf(low, policy), outputOf(high, { ...REFERENCE_POLICY, reference: policy.reference })],
    low, high, bf16: false, quads: tensorBytes(outRows, cols, false) / 16, elements: outRows * cols, arriving: pass === 'fprop' ? reference.arriving(id) : null,
  };
}

function outputSize(node: GraphNode, pass: Pass, rows: number): [number, number] {
  if (pass === 'fprop') return [rows, node.cols];
  if (pass === 'dgrad') return [rows, node.inCols];
  return node.weightTransposed ? [node.cols, node.inCols] : [node.inCols, node.cols];
}
