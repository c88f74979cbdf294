/**
 * How far a gradient turned: the metrics of method.md 1 from partial sums, in FP64, and how angles pool and add.
 * Never acos of a cosine: the sums of (g - r)^2 and (g - r) r are taken directly, because from |g|^2 + |r|^2 - 2 <g, r>
 * nothing is left at small angles (engine.md 6.2).
 */

/** Sums over all elements of a gradient g and its reference r; d = g - r. */
export interface GradientSums {
  readonly gg: number;
  readonly rr: number;
  readonly gr: number;
  readonly dd: number;
  readonly dr: number;
}

export interface GradientMetrics {
  readonly angleDeg: number;
  /** |d| / |r| */
  readonly relativeShift: number;
  /** |g| / |r| */
  readonly lengthRatio: number;
  /** 1 - (d . r / |r|)^2 / |d|^2, 0 to 1; 0 where d is 0: nothing rotated. */
  readonly rotationShare: number;
}

/** Sums of two disjoint parts -> sums of both. */
export function addSums(a: GradientSums, b: GradientSums): GradientSums {
  return { gg: a.gg + b.gg, rr: a.rr + b.rr, gr: a.gr + b.gr, dd: a.dd + b.dd, dr: a.dr + b.dr };
}

/** g, r of one length -> their sums in FP64, for gradients that are on the host. */
export function gradientSums(g: ArrayLike<number>, r: ArrayLike<number>): GradientSums {
  let gg = 0;
  let rr = 0;
  let gr = 0;
  let dd = 0;
  let dr = 0;
  for (let i = 0; i < g.length; i++) {
    const a = g[i] ?? 0;
    const b = r[i] ?? 0;
    const d = a - b;
    gg += a * a;
    rr += b * b;
    gr += a * b;
    dd += d * d;
    dr += d * b;
  }
  return { gg, rr, gr, dd, dr };
}

/**
 * Sums -> metrics (method.md 1). The angle is that of the triangle with sides |g|, |r|, |d|, by its half angle (Kahan):
 * 2 atan2(sqrt(|d|^2 - (|g| - |r|)^2), sqrt((|g| + |r|)^2 - |d|^2)), where |g| - |r| = (dd + 2 dr) / (|g| + |r|) and
 * |d|^2 - (|g| - |r|)^2 lose nothing. A gradient of length 0 has no direction: 0 degrees if both are, else 90.
 */
export function gradientMetrics({ gg, rr, dd, dr }: GradientSums): GradientMetrics {
  const g = Math.sqrt(gg);
  const r = Math.sqrt(rr);
  const d = Math.sqrt(dd);
  if (g === 0 || r === 0) {
    return { angleDeg: g === r ? 0 : 90, relativeShift: r > 0 ? d / r : g === 0 ? 0 : Infinity, lengthRatio: r > 0 ? g / r : g === 0 ? 1 : Infinity, rotationShare: 0 };
  }
  const difference = (dd + 2 * dr) / (g + r);
  const across = Math.max(0, (d - difference) * (d + difference));
  const along = Math.max(0, (g + r - d) * (g + r + d));
  const angle = 2 * Math.atan2(Math.sqrt(across), Math.sqrt(along));
  const alongShare = dd > 0 ? (dr / r) ** 2 / dd : 1;
  return { angleDeg: degrees(angle), relativeShift: d / r, lengthRatio: g / r, rotationShare: Math.max(0, 1 - alongShare) };
}

export interface PooledAngle {
  readonly angleDeg: number;
  readonly angleSeDeg: number;
}

/**
 * Angles of K batches, each against its own reference -> atan(sqrt(m)), m = mean t, t = tan^2, and its standard error
 * sd(t) / (2 sqrt(K m) (1 + m)) radians, sd with K - 1; 0 for one batch or m = 0 (method.md 1). Empty: 0 and 0.
 */
export function poolAngles(anglesDeg: readonly number[]): PooledAngle {
  const t = anglesDeg.map(tanSquared);
  const K = t.length;
  if (K === 0) return { angleDeg: 0, angleSeDeg: 0 };
  const m = t.reduce((a, b) => a + b, 0) / K;
  const angleDeg = degrees(Math.atan(Math.sqrt(m)));
  if (K === 1 || m === 0) return { angleDeg, angleSeDeg: 0 };
  const sd = Math.sqrt(t.reduce((a, b) => a + (b - m) ** 2, 0) / (K - 1));
  return { angleDeg, angleSeDeg: degrees(sd / (2 * Math.sqrt(K * m) * (1 + m))) };
}

/** tan^2 clean = max(0, tan^2 raw - tan^2 floor); angles in degrees, pooled over batches first (method.md 1). */
export function cleanAngle(rawDeg: number, floorDeg: number): number {
  return degrees(Math.atan(Math.sqrt(Math.max(0, tanSquared(rawDeg) - tanSquared(floorDeg)))));
}

/** Angle of a joint policy from its sites' clean angles: squared tangents add, the floor once (method.md 5); degrees. */
export function predictAngle(cleanDeg: readonly number[], floorDeg: number): number {
  return degrees(Math.atan(Math.sqrt(cleanDeg.reduce((sum, a) => sum + tanSquared(a), tanSquared(floorDeg)))));
}

/** tan^2 of an angle in degrees: what adds, and what the allocator spends. */
export function tanSquared(angleDeg: number): number {
  return Math.tan((angleDeg * Math.PI) / 180) ** 2;
}

/** Sum of tan^2 -> angle in degrees; negative sums, which a subtracted floor may leave, count as 0. */
export function angleOfTanSquared(t: number): number {
  return degrees(Math.atan(Math.sqrt(Math.max(0, t))));
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}
