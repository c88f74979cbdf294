/**
 * Measured GEMM times as CSV (method.md 6), so that a plan can be bought by the clock of one's own machine:
 *
 *     m,k,n,pass,format,time_us
 *     512,768,2304,fprop,bf16,31.4
 *
 * One row a product [m, k] x [k, n], as the passes are: fprop [tokens, in] x [in, out], dgrad [tokens, out] x [out, in],
 * wgrad [in, tokens] x [tokens, out]. Columns may come in any order and others are left alone; `#` opens a comment line.
 */
import { BendscopeError } from '../base/errors';
import { PASS_SCHEMES, type SiteFormat } from '../graph/policy';
import type { Gemm } from '../graph/signatures';
import { PASSES, type Pass } from '../graph/types';

const COLUMNS = ['m', 'k', 'n', 'pass', 'format', 'time_us'] as const;
type Column = (typeof COLUMNS)[number];
const HINT = `Columns: ${COLUMNS.join(',')}; for example 512,768,2304,fprop,bf16,31.4.`;
/** What a row can time. */
const TIMED_FORMATS: readonly SiteFormat[] = ['bf16', ...PASS_SCHEMES];

export type Product = Pick<Gemm, 'm' | 'k' | 'n'>;

export class GemmTimes {
  readonly file: string;
  readonly #times: ReadonlyMap<string, number>;

  constructor(file: string, times: ReadonlyMap<string, number>) {
    this.file = file;
    this.#times = times;
  }

  get rows(): number {
    return this.#times.size;
  }

  /** Microseconds of a product in a pass and format, or null. */
  find(product: Product, pass: Pass, format: SiteFormat): number | null {
    return this.#times.get(keyOf(product, pass, format)) ?? null;
  }
}

function keyOf({ m, k, n }: Product, pass: Pass, format: SiteFormat): string {
  return `${m}x${k}x${n} ${pass} ${format}`;
}

/**
 * The text of a CSV file -> its times. Throws E-FILE-08 when the first line does not name the columns, E-FILE-07 for a row
 * that is none, with its line, and for two rows of one product.
 */
export function parseGemmTimes(text: string, file: string): GemmTimes {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/).map((line, i) => ({ line: line.trim(), number: i + 1 })).filter(({ line }) => line !== '' && !line.startsWith('#'));
  const [header, ...rows] = lines;
  const names = header ? cells(header.line).map((name) => name.toLowerCase()) : [];
  const missing = COLUMNS.filter((column) => names.filter((name) => name === column).length !== 1);
  if (missing.length > 0) throw new BendscopeError('E-FILE-08', `${file}: expected a first line with each of the columns ${COLUMNS.join(', ')} once; not so: ${missing.join(', ')}.`, HINT);

  const times = new Map<string, number>();
  for (const { line, number } of rows) {
    const damaged = (what: string): BendscopeError => new BendscopeError('E-FILE-07', `${file} is damaged: ${what} at line ${number}.`, HINT);
    const values = cells(line);
    if (values.length !== names.length) throw damaged(`expected ${names.length} values, got ${values.length}`);
    const value = (column: Column): string => values[names.indexOf(column)]!;
    const size = (column: 'm' | 'k' | 'n'): number => {
      if (!/^[1-9]\d{0,8}$/.test(value(column))) throw damaged(`expected ${column} to be a size, got ${show(value(column))}`);
      return Number(value(column));
    };
    const product = { m: size('m'), k: size('k'), n: size('n') };
    const pass = PASSES.find((known) => known === value('pass'));
    if (pass === undefined) throw damaged(`expected a pass (${PASSES.join(', ')}), got ${show(value('pass'))}`);
    const format = TIMED_FORMATS.find((known) => known === value('format'));
    if (format === undefined) throw damaged(`expected a format (${TIMED_FORMATS.join(', ')}), got ${show(value('format'))}`);
    const time = /^\d+(\.\d*)?(e[+-]?\d+)?$/i.test(value('time_us')) ? Number(value('time_us')) : NaN;
    if (!(time > 0 && time <= 1e9)) throw damaged(`expected time_us above 0 and at most 1e9, got ${show(value('time_us'))}`);
    const key = keyOf(product, pass, format);
    if (times.has(key)) throw damaged(`expected ${key} once, got it again`);
    times.set(key, time);
  }
  return new GemmTimes(file, times);
}

function cells(line: string): string[] {
  return line.split(',').map((cell) => cell.trim());
}

/** A stranger's text, short enough to stand in a message. */
function show(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}
