/**
 * What must hold before anything runs: of a graph (a fault of ours if not) and of a policy (a reader's input, named errors).
 * Sources: types.ts for the graph, method.md 3 and 4 for policies.
 */
import { assert, BendscopeError } from '../base/errors';
import { PASS_SCHEMES, type PassScheme, type Policy, type PolicyOptions, type SiteId } from './policy';
import { OP_SIGNATURES } from './signatures';
import { paintableSites, parseSiteId } from './sites';
import type { Graph, GraphNode } from './types';

/** Throws E-BUG-01 unless ids are unique, nodes topological, widths agree, parameters exist in the right shape and are all used. */
export function validateGraph(graph: Graph): void {
  const params = new Map(graph.params.map((spec) => [spec.name, spec.shape]));
  assert(params.size === graph.params.length, `${graph.model}: a parameter name occurs twice`);
  const seen = new Map<string, GraphNode>();
  const used = new Set<string>();
  for (const node of graph.nodes) {
    const signature = OP_SIGNATURES[node.op];
    assert(!seen.has(node.id), `${node.id}: expected a unique node id`);
    assert(node.inputs.length === signature.ports, `${node.id}: expected ${signature.ports} inputs, got ${node.inputs.length}`);
    for (const id of node.inputs) {
      const input = seen.get(id);
      assert(input, `${node.id}: expected its input ${id} to be an earlier node`);
      assert(input.cols === signature.inCols(node, graph), `${node.id}: expected width ${signature.inCols(node, graph)} of ${id}, got ${input.cols}`);
    }
    assert(node.cols === signature.outCols(node, graph), `${node.id}: expected width ${signature.outCols(node, graph)}, got ${node.cols}`);
    assert(node.op !== 'attention' || (node.heads > 0 && node.cols % node.heads === 0), `${node.id}: expected heads to divide ${node.cols}, got ${node.heads}`);
    assert(node.layer === null || (node.layer >= 0 && node.layer < graph.layers), `${node.id}: expected a layer below ${graph.layers}, got ${String(node.layer)}`);
    const roles = signature.params(node, graph);
    for (const [role, name] of Object.entries(node.params)) {
      const want = roles[role]?.shape;
      const shape = params.get(name);
      assert(want, `${node.id}: a ${node.op} has no parameter in role ${role}`);
      assert(shape && shape.join() === want.join(), `${node.id}: expected ${name} of shape [${want.join(', ')}], got ${shape ? `[${shape.join(', ')}]` : 'none'}`);
      used.add(name);
    }
    for (const [role, { optional }] of Object.entries(roles)) assert(optional || node.params[role] !== undefined, `${node.id}: expected a parameter in role ${role}`);
    seen.set(node.id, node);
  }
  assert(graph.nodes.at(-1)?.op === 'cross_entropy', `${graph.model}: expected the last node to be the loss`);
  for (const name of params.keys()) assert(used.has(name), `${name}: expected a node that uses it`);
}

const OPTIONS_HINT = 'Options of this build: {"weights1d": true|false}.';

/** Options of unknown origin -> PolicyOptions. `rht`, `sr` off and `seed` name the default and are dropped. Throws E-PLAN-06. */
export function validateOptions(options: unknown): PolicyOptions {
  if (options === undefined) return {};
  if (!isRecord(options)) throw new BendscopeError('E-PLAN-06', `policy options: expected an object, got ${shown(options)}`, OPTIONS_HINT);
  let weights1d = false;
  for (const [key, value] of Object.entries(options)) {
    if (key === 'weights1d' && typeof value === 'boolean') weights1d = value;
    else if ((key === 'rht' || key === 'sr') && value === false) continue;
    else if (key === 'seed' && typeof value === 'number') continue; // Nothing is random without sr.
    else throw new BendscopeError('E-PLAN-06', `policy options: expected switches this build can measure, got ${key} = ${shown(value)}`, OPTIONS_HINT);
  }
  return weights1d ? { weights1d } : {};
}

/**
 * A policy of unknown origin -> Policy, or throws: E-PLAN-02 unknown site, E-PLAN-03 unknown scheme, E-PLAN-04 passes under
 * `fp32` or an unknown reference, E-PLAN-05 a site that stays BF16 (the head), E-PLAN-06 options, E-PLAN-07 not a policy at all.
 */
export function validatePolicy(graph: Graph, policy: unknown): Policy {
  if (!isRecord(policy)) throw notAPolicy(`an object, got ${shown(policy)}`);
  const { reference, passes = {}, options, ...unknown } = policy;
  const key = Object.keys(unknown)[0];
  if (key !== undefined) throw notAPolicy(`the keys reference, passes and options, got "${key}"`);
  if (reference !== 'bf16' && reference !== 'fp32') {
    throw new BendscopeError('E-PLAN-04', `policy: expected reference "bf16" or "fp32", got ${shown(reference)}`, 'Use "bf16" to measure; "fp32" is for parity tests.');
  }
  if (!isRecord(passes)) throw notAPolicy(`passes to be an object {site: scheme}, got ${shown(passes)}`);
  const checked: Record<SiteId, PassScheme> = {};
  for (const [id, scheme] of Object.entries(passes)) {
    const site = parseSiteId(graph, id, 'policy');
    if (!isPassScheme(scheme)) {
      throw new BendscopeError('E-PLAN-03', `policy: expected a scheme for ${id}, got ${shown(scheme)}`, `This build measures ${PASS_SCHEMES.join(', ')}; leave a site out to keep it in BF16.`);
    }
    if (!site.paintable) {
      const example = paintableSites(graph)[0]?.id ?? 'none';
      throw new BendscopeError('E-PLAN-05', `policy: expected a pass of a block linear, got ${id}, which stays BF16 in every recipe`, `Take it out; ${example} is one that can be low.`);
    }
    checked[site.id] = scheme;
  }
  if (reference === 'fp32' && Object.keys(checked).length > 0) {
    throw new BendscopeError('E-PLAN-04', `policy: expected no low passes under reference "fp32", got ${Object.keys(checked).length}`, 'Use reference "bf16", or remove the passes.');
  }
  return { reference, passes: checked, options: validateOptions(options) };
}

/** Whether a string of unknown origin names a scheme this build measures. */
export function isPassScheme(scheme: unknown): scheme is PassScheme {
  return PASS_SCHEMES.some((known) => known === scheme);
}

function notAPolicy(what: string): BendscopeError {
  return new BendscopeError('E-PLAN-07', `policy: expected ${what}`, 'A policy is {"reference": "bf16", "passes": {"h.0.attn.c_attn:fprop": "nvfp4"}, "options": {}}.');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
