/**
 * Which sites a policy lowers, and policies that lower given sites; and what a whole plan's local error is: the sum over
 * its low sites of what each does alone (method.md 7), taken from isolated runs where all of them are there.
 */
import { canonicalJson } from '../base/canonical-json';
import { OUT_SCHEME, type PassScheme, type Policy, type PolicyOptions, type RecipeName, type SiteId } from '../graph/policy';
import type { Measured, SiteResult } from '../graph/probe-record';
import { recipeOptions } from '../graph/recipes';
import { formatSiteId, parseSiteId } from '../graph/sites';
import type { Graph } from '../graph/types';

/** Exactly these sites low in a recipe, everything else the BF16 reference. */
export function policyLowering(graph: Graph, ids: Iterable<SiteId>, recipe: RecipeName, options: PolicyOptions): Policy {
  if (recipe === OUT_SCHEME) {
    const nodes = new Set([...ids].map((id) => parseSiteId(graph, id).node));
    return { reference: 'bf16', passes: {}, outs: graph.nodes.map(({ id }) => id).filter((id) => nodes.has(id)), options };
  }
  return { reference: 'bf16', passes: Object.fromEntries([...ids].map((id): [SiteId, PassScheme] => [id, recipe])), options };
}

/** The low sites of a policy with their scheme. */
export function lowSites(policy: Policy): readonly (readonly [SiteId, RecipeName])[] {
  return [...Object.entries(policy.passes), ...(policy.outs ?? []).map((node) => [formatSiteId(node, 'out'), OUT_SCHEME] as const)];
}

/** Isolated results of one recipe under one set of options. */
export interface Isolated {
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly sites: Readonly<Record<SiteId, SiteResult>>;
}

/** Whether a site that is low in `scheme` under `options` runs as it did in these isolated runs. */
export function isMeasuredAs(isolated: Isolated, scheme: RecipeName, options: PolicyOptions): boolean {
  return scheme === isolated.recipe && canonicalJson(recipeOptions(scheme, options)) === canonicalJson(recipeOptions(scheme, isolated.options));
}

/**
 * A plan's result with its local error: in every batch the sum over the low sites of what each does alone. null where
 * some low site was not measured alone, or not as it runs in the plan. Formed from these isolated runs and nothing else,
 * so that equal questions have equal answers whatever was measured before.
 */
export function withPlanLocalError(result: Measured, policy: Policy, isolated: Isolated): Measured {
  const sums = result.perBatch.map((_, k) => planLocalError(policy, isolated, k));
  const known = sums.filter((sum) => sum !== null);
  const localError = known.length === sums.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
  return { ...result, localError, perBatch: result.perBatch.map((batch, k) => ({ ...batch, localError: localError === null ? null : (sums[k] ?? null) })) };
}

function planLocalError(policy: Policy, isolated: Isolated, k: number): number | null {
  let sum = 0;
  for (const [id, scheme] of lowSites(policy)) {
    const result = isolated.sites[id];
    const local = result?.status === 'measured' && isMeasuredAs(isolated, scheme, policy.options) ? result.perBatch[k]?.localError : null;
    if (local === null || local === undefined) return null;
    sum += local;
  }
  return sum;
}
