/** Spearman's rank correlation with average ranks for ties: Pearson's correlation of the ranks. */
export function ranks(values: readonly number[]): number[] {
  const order = values.map((value, i) => ({ value, i })).sort((a, b) => a.value - b.value);
  const out = new Array<number>(values.length).fill(0);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end + 1 < order.length && order[end + 1]?.value === order[start]?.value) end++;
    for (let k = start; k <= end; k++) out[order[k]?.i ?? 0] = (start + end) / 2 + 1;
    start = end + 1;
  }
  return out;
}

/** a, b of one length n >= 2 -> correlation in [-1, 1]; NaN where one side is constant. */
export function spearman(a: readonly number[], b: readonly number[]): number {
  const x = ranks(a);
  const y = ranks(b);
  const mean = (x.length + 1) / 2;
  let xy = 0;
  let xx = 0;
  let yy = 0;
  x.forEach((rank, i) => {
    const dx = rank - mean;
    const dy = (y[i] ?? 0) - mean;
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  });
  return xy / Math.sqrt(xx * yy);
}
