/**
 * Numbers as people read them, with their unit, one spelling on the page, in files and on the command line.
 * Figures are rounded for reading only; files keep full precision. Locale-free, so the same input gives the same text.
 */

/** Significant digits without exponent or trailing zeros lost: 6.8 -> `6.80`, 0.0123 -> `0.0123`, 123.4 -> `123`. */
export function significant(x: number, digits = 3): string {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return '0';
  const rounded = Number(x.toPrecision(digits));
  const exponent = Math.floor(Math.log10(Math.abs(rounded)));
  // x, not `rounded`: digits before the point are never replaced by zeros.
  return x.toFixed(Math.min(100, Math.max(0, digits - 1 - exponent)));
}

/** Degrees where the unit stands elsewhere: `6.80`; under 0.001, which no probe resolves, `< 0.001`; 0 is `0`. */
export function degreesFigure(angleDeg: number): string {
  return angleDeg > 0 && angleDeg < 0.001 ? '< 0.001' : significant(angleDeg);
}

/** Degrees with their unit: `6.80 deg`, `< 0.001 deg`, `0 deg`. */
export function formatDegrees(angleDeg: number): string {
  return `${degreesFigure(angleDeg)} deg`;
}

/** A change with its sign in front, the minus as wide as the plus: `+13.0 %`, `−0.31`. What no change reads as is the caller's to say. */
export function signed(change: number, text: (size: number) => string): string {
  return `${change < 0 ? '−' : '+'}${text(Math.abs(change))}`;
}

/** A share 0..1 as per cent: 0.1304 -> `13.0 %`. */
export function formatPercent(share: number, decimals = 1): string {
  return `${(100 * share).toFixed(decimals)} %`;
}

const BYTE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes in binary units, three digits: 1536 -> `1.50 KiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 'B';
  for (const next of BYTE_UNITS) {
    // 1000, not 1024: the figure never has four digits.
    if (Math.abs(value) < 1000) break;
    value /= 1024;
    unit = next;
  }
  return unit === 'B' ? `${value} B` : `${significant(value)} ${unit}`;
}

/** Milliseconds as `0.82 s`, `37.2 s`, `4 min 5 s`, `2 h 3 min`. */
export function formatDuration(elapsedMs: number): string {
  const seconds = elapsedMs / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(whole / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
