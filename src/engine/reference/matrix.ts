/**
 * Float64 matrices, row-major: the products behind every reference op. Each element is summed with k ascending; loops
 * are ordered i, k, j so that the inner one walks memory, four k at a time.
 */
/** a [m, k] b [k, n] -> [m, n] */
export function multiply(a: Float64Array, b: Float64Array, m: number, k: number, n: number): Float64Array {
  const c = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    const row = i * n;
    let p = 0;
    for (; p + 3 < k; p += 4) {
      const at = i * k + p;
      const [x0, x1, x2, x3] = [a[at] as number, a[at + 1] as number, a[at + 2] as number, a[at + 3] as number];
      const from = p * n;
      for (let j = 0; j < n; j++) {
        let sum = (c[row + j] as number) + x0 * (b[from + j] as number);
        sum += x1 * (b[from + n + j] as number);
        sum += x2 * (b[from + 2 * n + j] as number);
        c[row + j] = sum + x3 * (b[from + 3 * n + j] as number);
      }
    }
    for (; p < k; p++) {
      const x = a[i * k + p] as number;
      const from = p * n;
      for (let j = 0; j < n; j++) c[row + j] = (c[row + j] as number) + x * (b[from + j] as number);
    }
  }
  return c;
}

/** x [rows, cols] -> [cols, rows] */
export function transpose(x: Float64Array, rows: number, cols: number): Float64Array {
  const out = new Float64Array(x.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < cols; j++) out[j * rows + i] = x[i * cols + j] as number;
  return out;
}

/** x [rows, cols] -> sums over rows [cols] */
export function columnSums(x: Float64Array, cols: number): Float64Array {
  const out = new Float64Array(cols);
  for (let i = 0; i < x.length; i++) out[i % cols] = (out[i % cols] as number) + (x[i] as number);
  return out;
}

export function scale(x: Float64Array, factor: number): Float64Array {
  for (let i = 0; i < x.length; i++) x[i] = (x[i] as number) * factor;
  return x;
}
