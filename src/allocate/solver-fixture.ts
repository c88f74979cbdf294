/**
 * Test support: random questions for the solvers, and every plan of a small one by brute force. tan^2 are multiples of
 * 1/1024, so that float sums are exact here as well and ties are ties.
 */
import type { SiteFormat, SiteId } from '../graph/policy';
import type { FormatOffer, SiteChoice } from './choices';

/** mulberry32: a seeded generator of [0, 1), so that a failure can be repeated. */
export function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const FORMATS = ['bf16', 'fp8', 'nvfp4'] as const;

export interface RandomQuestion {
  readonly sites: readonly SiteChoice[];
  readonly groups: readonly (readonly SiteId[])[];
}

/** Sites with ties, zeros, floors, locks, unmeasured formats and groups that share a format; sites from `free` on are locked, so that brute force ends. */
export function randomQuestion(next: () => number, count: number, formats: 2 | 3, free = count): RandomQuestion {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
  const kinds = pick([1, 3, 4]);
  const floors = [next() < 0.5 ? 0 : 6 / 1024, next() < 0.5 ? 0 : 2 / 1024, 0];
  const names = formats === 2 ? (['bf16', 'nvfp4'] as const) : FORMATS;
  const groups: SiteId[][] = [];
  if (count >= 4 && next() < 0.8) groups.push(['s1', 's3', 's4'].slice(0, count === 4 ? 2 : pick([2, 3])));
  if (count >= 8 && next() < 0.3) groups.push(['s7', 's6']);
  const lockOf = groups.map(() => (next() < 0.2 ? pick(names) : null));
  const sites = Array.from({ length: count }, (_, i): SiteChoice => {
    const id = `s${i}`;
    const work = next() < 0.2 ? 0 : 1 + Math.floor(next() * kinds);
    const bend = Math.floor(next() * (next() < 0.5 ? 4 : 200)) / 1024;
    const floorTan2 = pick(floors);
    const low = (format: SiteFormat, share: number): FormatOffer => ({
      format, cost: 6 * Math.round(work * pick([share, 0])), tan2: next() < 0.1 ? null : Math.floor(bend * 1024 * (1 - share)) / 1024, floorTan2,
    });
    const offers = names.map((format) => (format === 'bf16' ? { format, cost: 6 * work, tan2: 0, floorTan2: 0 } : low(format, format === 'fp8' ? 0.5 : 0)));
    const group = groups.findIndex((members) => members.includes(id));
    return { id, offers, lock: group >= 0 ? lockOf[group]! : i >= free || next() < 0.2 ? pick(names) : null };
  });
  return { sites, groups };
}

/** Sites of two formats: BF16 at a cost, or low for nothing. */
export function twoFormats(items: readonly { readonly cost: number; readonly tan2: number | null; readonly floorTan2?: number; readonly lock?: 'bf16' | 'nvfp4'; readonly id?: string }[]): SiteChoice[] {
  return items.map(({ id, cost, tan2, floorTan2 = 0, lock = null }, i) => ({
    id: id ?? `s${i}`, lock, offers: [{ format: 'bf16', cost, tan2: 0, floorTan2: 0 }, { format: 'nvfp4', cost: 0, tan2, floorTan2 }],
  }));
}

export interface BrutePlan {
  readonly cost: number;
  readonly tan2: number;
  /** By site: which of its offers. */
  readonly taken: Uint8Array;
}

/** Every allowed plan, in the order of the tie rule: the earliest site that differs has its highest precision first. */
export function everyPlan({ sites, groups }: RandomQuestion): BrutePlan[] {
  const leader = sites.map(({ id }, i) => {
    const fellows = groups.find((group) => group.includes(id)) ?? [];
    return Math.min(i, ...fellows.map((fellow) => sites.findIndex((site) => site.id === fellow)));
  });
  const plans: BrutePlan[] = [];
  const taken = new Uint8Array(sites.length);
  const visit = (i: number, cost: number, sum: number, floor: number): void => {
    const site = sites[i];
    if (site === undefined) {
      plans.push({ cost, tan2: sum + floor, taken: taken.slice() });
      return;
    }
    site.offers.forEach(({ format, cost: own, tan2, floorTan2 }, o) => {
      // Every site has the same formats in the same order.
      if (leader[i]! < i && taken[leader[i]!] !== o) return;
      if (site.lock === null ? tan2 === null : format !== site.lock) return;
      taken[i] = o;
      visit(i + 1, cost + own, sum + (tan2 ?? 0), Math.max(floor, floorTan2));
    });
  };
  visit(0, 0, 0, 0);
  return plans;
}

/** A plan of brute force as the solvers give theirs. */
export function told({ sites }: RandomQuestion, { cost, tan2, taken }: BrutePlan): { readonly cost: number; readonly tan2: number; readonly formats: Record<SiteId, SiteFormat> } {
  return { cost, tan2, formats: Object.fromEntries(sites.map(({ id, offers }, i) => [id, offers[taken[i]!]!.format])) };
}

/** The first plan of a list that no other beats by `better`. */
export function best(plans: readonly BrutePlan[], better: (a: BrutePlan, b: BrutePlan) => boolean): BrutePlan | undefined {
  return plans.reduce<BrutePlan | undefined>((winner, plan) => (winner === undefined || better(plan, winner) ? plan : winner), undefined);
}

/**
 * A model of `layers` blocks with seven linears of a Llama's shapes and three passes: 3 x 7 x layers sites. Costs are relative
 * GEMM time in quarters (BF16 4, FP8 2, NVFP4 1 a unit of work), or with two formats the work in BF16.
 */
export function largeQuestion(layers: number, formats: 2 | 3, seed = 1): SiteChoice[] {
  const next = random(seed);
  const shapes = [['q', 16], ['k', 1], ['v', 1], ['o', 16], ['gate', 52], ['up', 52], ['down', 52]] as const;
  const floors = { fprop: 7e-6, dgrad: 3e-7, wgrad: 0 } as const;
  const passes = ['fprop', 'dgrad', 'wgrad'] as const;
  return Array.from({ length: layers }, (_, layer) => shapes.flatMap(([name, work]) => passes.map((pass): SiteChoice => {
    // Angles over three decades, as probes give them: a normal draw on a log scale, larger where the pass reaches further.
    const spread = next() + next() + next() - 1.5;
    const tan2 = Math.exp(3 * spread) * { fprop: 4e-4, dgrad: 4e-5, wgrad: 1e-5 }[pass];
    const floorTan2 = floors[pass];
    const low = (format: SiteFormat, cost: number, share: number): FormatOffer => ({ format, cost, tan2: tan2 * share, floorTan2 });
    const offers: FormatOffer[] = [{ format: 'bf16', cost: formats === 2 ? work : 4 * work, tan2: 0, floorTan2: 0 }];
    if (formats === 3) offers.push(low('fp8', 2 * work, 0.005 + 0.02 * next()));
    offers.push(low('nvfp4', formats === 2 ? 0 : work, 1));
    return { id: `model.layers.${layer}.${name}:${pass}`, offers, lock: null };
  }))).flat();
}
