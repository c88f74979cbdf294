/**
 * What other methods would say of a site, from one batch's reference run and the site's own output alone (formats.md 7):
 * ModelOpt's first order and a SNIP-like divergence, made of sums that the engine takes. They are no angles, but what
 * angles are compared with.
 */
import type { OutputSums } from '../engine/comparison';
import type { RunResult } from '../engine/run';
import type { SiteScores } from '../graph/probe-record';
import { parseSiteId } from '../graph/sites';
import type { Graph } from '../graph/types';

/** One batch's scores; a quotient that does not exist is null, never NaN. `reference`: the batch's reference run. */
export function batchScores(graph: Graph, output: OutputSums, reference: Pick<RunResult, 'loss' | 'sums'>): SiteScores {
  // Sums over Inf or NaN are whatever the device made of them.
  if (output.nonFinite > 0) return { firstOrder: null, snip: null };
  return { firstOrder: output.arriving ? finite(output.arriving.gd) : null, snip: finite(divergence(graph, output, reference)) };
}

function divergence(graph: Graph, { site, dd, rr, arriving, elements }: OutputSums, { loss, sums }: Pick<RunResult, 'loss' | 'sums'>): number {
  // Loss divergence: |<g, dy>| / L as it is on average over errors of this size whose direction knows nothing of g.
  if (arriving) return Math.sqrt((arriving.gg * dd) / elements) / loss;
  const { node, pass } = parseSiteId(graph, site);
  const squared = (params: Iterable<string>): number => [...params].reduce((sum, name) => sum + (sums.get(name)?.rr ?? NaN), 0);
  const whole = squared(graph.params.map(({ name }) => name));
  // Weight divergence: dw is a part of the gradient itself; a relative error of dx is one of all that comes after it.
  return pass === 'wgrad' ? Math.sqrt(dd / whole) : Math.sqrt((dd / rr) * (squared(parametersBelow(graph, node)) / whole));
}

/**
 * Parameters that the backward pass reaches through the dx of a node's first input: those of every node that the input
 * comes from, residual paths included. A tied table counts whole, its head's share too.
 */
export function parametersBelow(graph: Graph, node: string): ReadonlySet<string> {
  const nodes = new Map(graph.nodes.map((n) => [n.id, n]));
  const reached = new Set<string>();
  const below = new Set<string>();
  const visit = (id: string | undefined): void => {
    const found = id === undefined || reached.has(id) ? undefined : nodes.get(id);
    if (!found) return;
    reached.add(found.id);
    for (const name of Object.values(found.params)) below.add(name);
    found.inputs.forEach(visit);
  };
  visit(nodes.get(node)?.inputs[0]);
  return below;
}

/** Batches -> what is reported: the sum of the first order, the mean of the divergence. What one batch has not, or none was run, is none. */
export function poolScores(batches: readonly (SiteScores | null)[]): SiteScores {
  const sum = (of: (scores: SiteScores) => number | null): number => batches.reduce((total, scores) => total + ((scores && of(scores)) ?? NaN), batches.length > 0 ? 0 : NaN);
  return { firstOrder: finite(sum(({ firstOrder }) => firstOrder)), snip: finite(sum(({ snip }) => snip) / batches.length) };
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
