/**
 * A run of the tiny model on the device, every value read back, and what is run again after it. Each node is checked on
 * the device's own inputs, so that errors do not add up and the op that is wrong is the one named.
 */
import { assert } from '../../base/errors';
import { REFERENCE_POLICY, type Policy } from '../../graph/policy';
import type { GraphNode } from '../../graph/types';
import { fromBits } from '../../numerics/float-bits';
import { orderTokens } from '../batch';
import { stride } from '../program';
import type { ReferenceCall } from '../reference';
import type { Session } from '../session';
import type { RunResult } from '../run';
import { Values } from '../values';
import { TINY_GRAPH, TINY_SHAPE, tinyParams, tinyTokens } from './tiny-model';

const ROWS = TINY_SHAPE.sequences * TINY_SHAPE.tokens;
const LOW_NODE = 'h.0.mlp.c_fc';
/** All three passes of one linear low, as TransformerEngine trains: each is checked alone on the inputs it had. */
const LOW_POLICY: Policy = { ...REFERENCE_POLICY, options: { rht: true, sr: true }, passes: { [`${LOW_NODE}:fprop`]: 'nvfp4', [`${LOW_NODE}:dgrad`]: 'nvfp4', [`${LOW_NODE}:wgrad`]: 'nvfp4' } };

export class Recording {
  readonly values = new Values(TINY_GRAPH);
  readonly run: RunResult;
  readonly bytes: ReadonlyMap<string, ArrayBuffer>;
  readonly policy: Policy;
  #params = new Map([...tinyParams()].map(([name, values]) => [name, Float64Array.from(values)]));
  #tokens = orderTokens(tinyTokens(), TINY_SHAPE, TINY_GRAPH.vocabulary);

  constructor(run: RunResult, bytes: ReadonlyMap<string, ArrayBuffer>, policy: Policy) {
    this.run = run;
    this.bytes = bytes;
    this.policy = policy;
  }

  /** What the float64 reference is called with: the device's inputs of this node. */
  call(node: GraphNode): ReferenceCall {
    const pass = (name: 'fprop' | 'dgrad' | 'wgrad') => {
      const scheme = this.policy.passes[`${node.id}:${name}`];
      return scheme === undefined ? {} : { [name]: scheme };
    };
    return {
      attrs: node, ...TINY_SHAPE, rounding: 'bf16', ids: this.#tokens.ids, targets: this.#tokens.targets,
      inputs: node.inputs.map((id) => this.y(id)),
      params: Object.fromEntries(Object.entries(node.params).map(([role, name]) => [role, this.#params.get(name) ?? new Float64Array()])),
      low: { ...pass('fprop'), ...pass('dgrad'), ...pass('wgrad') }, options: this.policy.options, tensorNumber: TINY_GRAPH.nodes.indexOf(node),
    };
  }

  y(id: string): Float64Array {
    return this.#activation(this.values.y(id), this.values.node(id).cols);
  }

  /** The gradient that arrived; at the loss 1 / N. */
  dy(id: string): Float64Array {
    if (this.values.node(id).op === 'cross_entropy') return new Float64Array(ROWS).fill(1 / ROWS);
    return this.#activation(this.values.dy(id), this.values.node(id).cols);
  }

  dx(node: GraphNode, port: number): Float64Array {
    return this.#activation(this.values.dx(node, port), this.values.node(node.inputs[port] ?? '').cols);
  }

  /** FP32 gradient of the parameter in this role; of a tied table the embedding's holds the sum, the head's its share. */
  dw(node: GraphNode, role: string): Float64Array {
    const name = node.params[role] ?? '';
    const shape = TINY_GRAPH.params.find((param) => param.name === name)?.shape ?? [];
    const cols = shape[shape.length - 1] ?? 0;
    return unpadded(new Float32Array(this.#raw(this.values.dw(node, name))), cols);
  }

  /** [N, 4]: largest logit, sum of exponentials, target logit, unused. */
  lossStats(node: GraphNode): Float32Array {
    return new Float32Array(this.#raw(`stats:${node.id}`));
  }

  #raw(key: string): ArrayBuffer {
    const bytes = this.bytes.get(key);
    assert(bytes, `recording: no value ${key}`);
    return bytes;
  }

  #activation(key: string, cols: number): Float64Array {
    const halves = new Uint16Array(this.#raw(key), 0, ROWS * stride(cols));
    return unpadded(Float32Array.from(halves, (half) => fromBits((half << 16) >>> 0)), cols);
  }
}

function unpadded(padded: Float32Array, cols: number): Float64Array {
  const s = stride(cols);
  const out = new Float64Array(Math.floor(padded.length / s) * cols);
  for (let r = 0; r * s < padded.length; r++) out.set(padded.subarray(r * s, r * s + cols), r * cols);
  return out;
}

async function readAll(session: Session): Promise<ReadonlyMap<string, ArrayBuffer>> {
  const keys = new Values(TINY_GRAPH).specs(TINY_SHAPE, true).map((spec) => spec.key);
  return new Map(await Promise.all(keys.map(async (key) => [key, await session.readValue(key)] as const)));
}

export async function record(session: Session): Promise<Recording> {
  session.setBatch(tinyTokens());
  const run = await session.runReference();
  return new Recording(run, await readAll(session), REFERENCE_POLICY);
}

export interface Replay {
  /** Bytes of every value of the same run once more. */
  readonly again: ReadonlyMap<string, ArrayBuffer>;
  /** A run with one flipped ulp as it is measured, and with every step executed. */
  readonly flipped: { readonly resumed: RunResult; readonly full: RunResult };
  readonly localError: { readonly node: GraphNode; readonly measured: number | null };
  /** A run with the three passes of one linear in NVFP4, transformed and rounded at random. */
  readonly low: Recording;
  readonly lowNode: GraphNode;
}

/** Needs `record` on this session before it. */
export async function replay(session: Session): Promise<Replay> {
  await session.runReference();
  const again = await readAll(session);
  const flip = { node: 'h.0.ln_2', what: 'y', index: 77 } as const;
  const flipped = { resumed: await session.runVariant({ flip }), full: await session.runVariant({ flip, full: true }) };
  const wgrad: Policy = { ...REFERENCE_POLICY, passes: { [`${LOW_NODE}:wgrad`]: 'nvfp4' } };
  const measured = (await session.runVariant({ policy: wgrad, localErrorOf: `${LOW_NODE}:wgrad` })).localError;
  const run = await session.runReference(LOW_POLICY);
  const low = new Recording(run, await readAll(session), LOW_POLICY);
  const lowNode = low.values.node(LOW_NODE);
  return { again, flipped, localError: { node: lowNode, measured }, low, lowNode };
}
