/**
 * What must hold before anything runs: of a graph (a fault of ours if not) and of a policy (a reader's input, named errors).
 * Sources: types.ts for the graph, method.md 3 and 4 for policies.
 */
import { assert, BendscopeError } from '../base/errors';
import { policyOptions } from './canonical-policy';
import { OUT_SCHEME, PASS_SCHEMES, RECIPE_NAMES, type PassScheme, type Policy, type PolicyOptions, type RecipeName, type SiteId } from './policy';
import { OPTION_NAMES, schemeOptions, SWITCHES, type OptionName } from './recipes';
import { OP_SIGNATURES } from './signatures';
import { findSite, formatSiteId, paintableSites, parseSiteId } from './sites';
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

/**
 * Options of unknown origin -> PolicyOptions, defaults dropped; which of them a policy reads: canonical-policy.ts.
 * Throws E-PLAN-06 for an unknown switch or a value out of its range; `where` opens the message.
 */
export function validateOptions(options: unknown, where = 'policy options'): PolicyOptions {
  if (options === undefined) return {};
  assertOptions(options, where);
  return schemeOptions(RECIPE_NAMES, options);
}

function assertOptions(options: unknown, where: string): asserts options is PolicyOptions {
  const hint = `Switches: ${OPTION_NAMES.map((name) => `${name} (${valuesOf(name)})`).join(', ')}.`;
  if (!isRecord(options)) throw new BendscopeError('E-PLAN-06', `${where}: expected an object, got ${shown(options)}`, hint);
  for (const [key, value] of Object.entries(options)) {
    const name = OPTION_NAMES.find((known) => known === key);
    if (name === undefined) throw new BendscopeError('E-PLAN-06', `${where}: expected switches this build can measure, got ${key} = ${shown(value)}`, hint);
    if (!accepts(name, value)) throw new BendscopeError('E-PLAN-06', `${where}: expected ${name} to be ${valuesOf(name)}, got ${shown(value)}`, hint);
  }
}

function accepts(name: OptionName, value: unknown): boolean {
  const { values } = SWITCHES[name];
  if (values === 'flag') return typeof value === 'boolean';
  if (values === 'u32') return typeof value === 'number' && value >>> 0 === value;
  return values.some((known) => known === value);
}

function valuesOf(name: OptionName): string {
  const { values } = SWITCHES[name];
  return values === 'flag' ? 'true|false' : values === 'u32' ? '0 to 4294967295' : values.map((value) => `"${value}"`).join('|');
}

/** What a policy looks like, for whoever wrote something else. */
export const POLICY_HINT = 'A policy is {"reference": "bf16", "passes": {"h.0.attn.c_attn:fprop": "nvfp4"}, "outs": ["h.0.ln_1"], "options": {}}.';

/**
 * A policy of unknown origin -> Policy, or throws: E-PLAN-02 unknown site or op group, E-PLAN-03 unknown scheme, E-PLAN-04
 * low sites under `fp32` or an unknown reference, E-PLAN-05 a pass that stays BF16 (the head's), E-PLAN-06 options,
 * E-PLAN-07 not a policy at all. Passes may mix schemes; op groups come out in graph order, options as policyOptions.
 */
export function validatePolicy(graph: Graph, policy: unknown): Policy {
  if (!isRecord(policy)) throw notAPolicy(`an object, got ${shown(policy)}`);
  const { reference, passes = {}, outs = [], options, ...unknown } = policy;
  const key = Object.keys(unknown)[0];
  if (key !== undefined) throw notAPolicy(`the keys reference, passes, outs and options, got "${key}"`);
  if (reference !== 'bf16' && reference !== 'fp32') {
    throw new BendscopeError('E-PLAN-04', `policy: expected reference "bf16" or "fp32", got ${shown(reference)}`, 'Use "bf16" to measure; "fp32" is for parity tests.');
  }
  const lowPasses = checkPasses(graph, passes);
  const lowOuts = checkOuts(graph, outs);
  const count = Object.keys(lowPasses).length + lowOuts.length;
  if (reference === 'fp32' && count > 0) {
    throw new BendscopeError('E-PLAN-04', `policy: expected nothing low under reference "fp32", got ${count} low sites`, 'Use reference "bf16", or remove passes and outs.');
  }
  const low = { passes: lowPasses, ...(lowOuts.length > 0 ? { outs: lowOuts } : {}) };
  return { reference, ...low, options: policyOptions({ ...low, options: validateOptions(options) }) };
}

function checkPasses(graph: Graph, passes: unknown): Record<SiteId, PassScheme> {
  if (!isRecord(passes)) throw notAPolicy(`passes to be an object {site: scheme}, got ${shown(passes)}`);
  const checked: Record<SiteId, PassScheme> = {};
  for (const [id, scheme] of Object.entries(passes)) {
    const site = parseSiteId(graph, id, 'policy');
    if (site.kind === 'out') throw new BendscopeError('E-PLAN-02', `policy: expected a GEMM pass in passes, got ${id}`, `Name op groups in outs: "outs": ["${site.node}"].`);
    if (!isPassScheme(scheme)) {
      throw new BendscopeError('E-PLAN-03', `policy: expected a scheme for ${id}, got ${shown(scheme)}`, `This build measures ${PASS_SCHEMES.join(', ')}; leave a site out to keep it in BF16.`);
    }
    if (!site.paintable) {
      const example = paintableSites(graph, scheme)[0]?.id ?? 'none';
      throw new BendscopeError('E-PLAN-05', `policy: expected a pass of a block linear, got ${id}, which stays BF16 in every recipe`, `Take it out; ${example} is one that can be low.`);
    }
    checked[site.id] = scheme;
  }
  return checked;
}

/** Node ids of low op groups, in graph order. A repeated one is refused: it is most likely a slip for another. */
function checkOuts(graph: Graph, outs: unknown): string[] {
  if (!Array.isArray(outs)) throw notAPolicy(`outs to be a list of node ids, got ${shown(outs)}`);
  const low = new Set<string>();
  for (const id of outs as readonly unknown[]) {
    const site = typeof id === 'string' ? findSite(graph, formatSiteId(id, 'out')) : undefined;
    if (!site) {
      const example = paintableSites(graph, OUT_SCHEME)[0]?.node ?? 'none';
      throw new BendscopeError('E-PLAN-02', `policy outs: expected an op group of ${graph.model}, got ${shown(id)}`, `Write node ids, for example "${example}".`);
    }
    if (low.has(site.node)) throw notAPolicy(`outs to name an op group once, got ${shown(id)} twice`);
    low.add(site.node);
  }
  return graph.nodes.flatMap((node) => (low.has(node.id) ? [node.id] : []));
}

/** Whether a string of unknown origin names a scheme this build measures. */
export function isPassScheme(scheme: unknown): scheme is PassScheme {
  return PASS_SCHEMES.some((known) => known === scheme);
}

/** Whether a string of unknown origin names a recipe; presets of one (`nvfp4-te`) are findRecipe's. */
export function isRecipeName(recipe: unknown): recipe is RecipeName {
  return RECIPE_NAMES.some((known) => known === recipe);
}

function notAPolicy(what: string): BendscopeError {
  return new BendscopeError('E-PLAN-07', `policy: expected ${what}`, POLICY_HINT);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
