/**
 * What a plan pays, by kind (method.md 6): HP GEMM work, HP activation cache, effective bits, relative GEMM time. Each kind
 * gives every site an integer cost in every format, because the solver adds integers, and turns a plan's sum into the
 * figure people read. Work, bytes and bits are exact; time ratios are rounded to six decimals, measured times to the
 * nanosecond, and `rounding` says how far that can move the figure of any plan.
 */
import { assert, BendscopeError } from '../base/errors';
import type { PolicyOptions, SiteFormat, SiteId } from '../graph/policy';
import { passGemm, type BatchShape } from '../graph/signatures';
import type { Graph } from '../graph/types';
import { FORMATS } from '../numerics/formats';
import { operandFormat } from '../numerics/schemes';
import { formatOf, storedBits, type CostedSite, type Formats } from './cost';
import type { GemmTimes } from './gemm-times';

export const COST_KINDS = ['gemm', 'cache', 'bits', 'time'] as const;
export type CostKind = (typeof COST_KINDS)[number];

/** Time of a GEMM in a format over that in BF16. */
export type TimeRatios = Readonly<Partial<Record<SiteFormat, number>>>;

/** A kind with what it needs beside the sites. Times are those of a batch of this shape. */
export type CostRequest =
  | { readonly kind: 'gemm' | 'cache' | 'bits' }
  | { readonly kind: 'time'; readonly ratios?: TimeRatios }
  | { readonly kind: 'time'; readonly times: GemmTimes; readonly shape: BatchShape };

export interface CostTable {
  readonly kind: CostKind;
  readonly name: string;
  /** Those it was made for, BF16 first. */
  readonly formats: readonly SiteFormat[];
  /** Integer >= 0. Throws E-BUG-02 for a site or format the table was not made for. */
  of(id: SiteId, format: SiteFormat): number;
  /** A plan's sum of costs -> a share 0..1 of everything in BF16, or mean bits; and back, the largest sum within a figure. */
  figureOf(cost: number): number;
  costOf(figure: number): number;
  /** The figure of any plan is within this of the one without rounding; 0 where nothing was rounded. */
  readonly rounding: number;
}

const NAMES: Readonly<Record<CostKind, string>> = { gemm: 'HP GEMM work', cache: 'HP activation cache', bits: 'effective bits', time: 'relative GEMM time' };
/** Stored bits are multiples of 2^-12: the 8-bit scale of a 128 x 128 tile, halved by the mean of two operands. */
const BIT_PARTS = 2 ** 12;
const RATIO_PARTS = 1e6;
const MICROSECOND_PARTS = 1e3;
/** So that work times a million parts stays an exact integer. */
const LARGEST_RATIO = 4;

/** Peak ratios of current hardware by the element of a format: 4 bits 1/4, 8 bits 1/2, BF16 1. */
export function defaultRatio(format: SiteFormat): number {
  const { bits } = FORMATS[operandFormat(format === 'bf16' ? null : format, 'x').element];
  return bits <= 4 ? 1 / 4 : bits <= 8 ? 1 / 2 : 1;
}

/**
 * The costs of the sites of one kind (passes, or op groups) in some formats; BF16 is always among them.
 * Throws E-PLAN-09: a cost of the other kind of site, a ratio out of range, a product the times do not name.
 */
export function costTable(graph: Graph, sites: readonly CostedSite[], formats: readonly SiteFormat[], options: PolicyOptions, request: CostRequest): CostTable {
  const { kind } = request;
  const isOut = sites.some((site) => site.pass === 'out');
  if (isOut ? kind === 'gemm' || kind === 'time' : kind === 'cache') {
    throw new BendscopeError('E-PLAN-09', `cost: expected ${isOut ? 'cache or bits for op groups' : 'gemm, bits or time for GEMM passes'}, got ${kind}`, 'Choose another cost, or another recipe.');
  }
  const all: readonly SiteFormat[] = [...new Set<SiteFormat>(['bf16', ...formats])];
  const work = sites.reduce((divisor, site) => gcd(divisor, site.cost), 0) || 1;
  const inWork = (site: CostedSite): number => site.cost / work;
  if (request.kind === 'time') {
    if ('times' in request) return integers(kind, sites, all, measuredTimes(graph, request.times, request.shape), MICROSECOND_PARTS);
    const ratios = new Map(all.map((format) => [format, ratioOf(format, request.ratios)]));
    return integers(kind, sites, all, (site, format) => ({ work: inWork(site), per: ratios.get(format)! }), RATIO_PARTS);
  }
  if (kind === 'bits') return integers(kind, sites, all, (site, format) => ({ work: inWork(site), per: storedBits(site.pass, format, options) }), BIT_PARTS);
  return integers(kind, sites, all, (site, format) => ({ work: inWork(site), per: format === 'bf16' ? 1 : 0 }), 1);
}

function ratioOf(format: SiteFormat, edited: TimeRatios = {}): number {
  const ratio = edited[format] ?? defaultRatio(format);
  if (ratio >= 1 / RATIO_PARTS && ratio <= LARGEST_RATIO) return ratio;
  throw new BendscopeError('E-PLAN-09', `cost: expected the time ratio of ${format} between ${1 / RATIO_PARTS} and ${LARGEST_RATIO}, got ${ratio}`, 'BF16 is 1; FP8 is 0.5 and FP4 0.25 on current hardware.');
}

/** A site's cost in a format: whole units of work, and what a unit costs. */
type Price = (site: CostedSite, format: SiteFormat) => { readonly work: number; readonly per: number };

function measuredTimes(graph: Graph, times: GemmTimes, shape: BatchShape): Price {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  return ({ id, node: nodeId, pass }, format) => {
    const node = nodes.get(nodeId);
    assert(node && pass !== 'out', `measuredTimes: ${id} has no product`);
    const { m, k, n } = passGemm(node, pass, shape);
    const time = times.find({ m, k, n }, pass, format);
    if (time !== null) return { work: 1, per: time };
    throw new BendscopeError(
      'E-PLAN-09', `${times.file}: expected a row m=${m}, k=${k}, n=${n}, ${pass}, ${format} for ${id}, got none`,
      `Add ${m},${k},${n},${pass},${format},<microseconds>. The sizes are those of ${shape.sequences} sequences of ${shape.tokens} tokens.`,
    );
  };
}

/** What a plan costs, in the integers of the table. */
export function planCost(table: CostTable, sites: readonly CostedSite[], formats: Formats): number {
  return sites.reduce((sum, { id }) => sum + table.of(id, formatOf(formats, id)), 0);
}

/** Prices rounded to whole parts of a unit, over their greatest common divisor. */
function integers(kind: CostKind, sites: readonly CostedSite[], formats: readonly SiteFormat[], price: Price, parts: number): CostTable {
  const costs = new Map<SiteId, Map<SiteFormat, number>>();
  let divisor = 0;
  let work = 0;
  let error = 0;
  for (const site of sites) {
    const own = new Map<SiteFormat, number>();
    let largest = 0;
    for (const format of formats) {
      const { work: units, per } = price(site, format);
      const cost = units * Math.round(per * parts);
      if (!Number.isSafeInteger(cost)) throw new BendscopeError('E-BUG-02', `cost: expected ${site.id} below 2^53 parts, got ${cost}`);
      own.set(format, cost);
      divisor = gcd(divisor, cost);
      largest = Math.max(largest, units * Math.abs(Math.round(per * parts) / parts - per));
    }
    costs.set(site.id, own);
    work += price(site, 'bf16').work;
    error += largest;
  }
  divisor ||= 1;
  for (const own of costs.values()) for (const [format, cost] of own) own.set(format, cost / divisor);
  const highest = sites.reduce((sum, { id }) => sum + costs.get(id)!.get('bf16')!, 0);
  // One in the figure: everything in BF16, or one bit of everything.
  const one = kind === 'bits' ? (work * parts) / divisor : highest;
  const dearest = sites.reduce((sum, { id }) => sum + Math.max(...costs.get(id)!.values()), 0);
  return {
    kind,
    name: NAMES[kind],
    formats,
    of(id, format) {
      const cost = costs.get(id)?.get(format);
      if (cost === undefined) throw new BendscopeError('E-BUG-02', `cost: expected one of ${costs.size} sites in ${formats.join(', ')}, got ${id} in ${format}`);
      return cost;
    },
    figureOf: (cost) => (one === 0 ? 0 : cost / one),
    // So that the figure of a plan, typed again, still admits the plan.
    costOf: (figure) => Math.floor(figure * one * (1 + 2 ** -48)),
    // Numerator and, where it is everything in BF16, denominator.
    rounding: error === 0 ? 0 : (error * parts * (1 + dearest / one)) / (divisor * one),
  };
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
