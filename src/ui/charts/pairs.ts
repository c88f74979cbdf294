/**
 * The paper's first claim on this model (method.md 9, S1): pairs of sites whose local error is within 20 % of each other
 * while their gradient shifts differ more than tenfold. Found by search over all pairs, never picked by hand.
 */
export interface PairPoint {
  readonly id: string;
  readonly localError: number;
  readonly relativeShift: number;
}

export interface TellingPair {
  /** The site that shifts the gradient more. */
  readonly strong: string;
  readonly weak: string;
  /** Larger over smaller, >= 1. */
  readonly errorRatio: number;
  readonly shiftRatio: number;
}

/**
 * Pairs with local errors within `errorWithin` (1.2: 20 %) and shifts more than `shiftOver` apart, strongest contrast
 * first, ties in the order of the points. Points without a positive error and shift cannot be compared and are left out.
 */
export function tellingPairs(points: readonly PairPoint[], errorWithin = 1.2, shiftOver = 10): TellingPair[] {
  const usable = points.filter((p) => p.localError > 0 && p.relativeShift > 0);
  const found: TellingPair[] = [];
  for (let i = 0; i < usable.length; i++) {
    for (let j = i + 1; j < usable.length; j++) {
      const a = usable[i];
      const b = usable[j];
      if (a === undefined || b === undefined) continue;
      const errorRatio = Math.max(a.localError, b.localError) / Math.min(a.localError, b.localError);
      if (errorRatio > errorWithin) continue;
      const [strong, weak] = a.relativeShift >= b.relativeShift ? [a, b] : [b, a];
      const shiftRatio = strong.relativeShift / weak.relativeShift;
      if (shiftRatio > shiftOver) found.push({ strong: strong.id, weak: weak.id, errorRatio, shiftRatio });
    }
  }
  return found.sort((a, b) => b.shiftRatio - a.shiftRatio);
}

/** The first `count` pairs that share no site: the ones worth drawing and naming. */
export function distinctPairs(pairs: readonly TellingPair[], count: number): TellingPair[] {
  const used = new Set<string>();
  const chosen: TellingPair[] = [];
  for (const pair of pairs) {
    if (chosen.length === count) break;
    if (used.has(pair.strong) || used.has(pair.weak)) continue;
    used.add(pair.strong).add(pair.weak);
    chosen.push(pair);
  }
  return chosen;
}
