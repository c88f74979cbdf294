/** What planning commands were asked for, read and checked before anything is solved: probes, what is spent, locks. */
import { resolve } from 'node:path';
import { COST_KINDS, type CostKind, type CostRequest, type TimeRatios } from '../allocate/costs';
import { parseGemmTimes } from '../allocate/gemm-times';
import { BendscopeError } from '../base/errors';
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import type { SiteScores } from '../graph/probe-record';
import { RECIPES } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { chooseSites } from './choose-sites';
import type { Flag, Flags } from './command-line';
import { checkOutput, readText } from './local-files';
import { openFolder, type OpenedFolder } from './open-folder';
import { json } from './policy-file';
import { joinProbes, readProbeFile, type Probes } from './probe-file';

export const PROBE_FLAG: Flag = { name: 'probe', value: 'R.json', required: true, repeatable: true, help: 'what probe or the page wrote; several of different pass recipes: several formats a site' };
export const COST_FLAGS: readonly Flag[] = [
  { name: 'cost', value: 'gemm|cache|bits|time', help: 'what is spent, as below; default gemm, of op groups cache' },
  { name: 'ratios', value: 'JSON', help: 'of --cost time: time in a format over that in BF16, as {"fp8": 0.55}; default 0.5 for FP8, 0.25 for FP4' },
  { name: 'times', value: 'T.csv', help: 'of --cost time: measured times, with the columns m,k,n,pass,format,time_us' },
];
export const LOCK_FLAG: Flag = { name: 'lock', value: 'L.json', help: '{"h.0.*:fprop": "bf16", "*.mlp.c_fc:wgrad": "nvfp4"}: sites, as in probe --sites, that keep a format' };
export const COST_DETAILS: readonly string[] = [
  'gemm: FLOPs of BF16 passes over those of all, 0 to 1 (a low pass is free, whichever format it has). cache: the same of',
  'the bytes that backward keeps, for op groups. bits: mean stored bits an element, up to 16. time: GEMM time over that of',
  'everything in BF16; --times has a row for every product at the shape that was probed.',
];

/** The largest budget of a kind: ratios of time can exceed 1, bits reach 16. */
export const LARGEST_BUDGET: Readonly<Record<CostKind, number>> = { gemm: 1, cache: 1, bits: 16, time: 4 };

/** --cost, --ratios and --times as given. */
export interface CostWords {
  readonly kind: CostKind | null;
  readonly ratios: TimeRatios | null;
  readonly times: string | null;
}

/** Throws E-CLI-01 for flags that do not go together, E-PLAN-09 for ratios that are none. */
export function readCostWords(flags: Flags): CostWords {
  const kind = flags.given('cost') ? flags.oneOf('cost', COST_KINDS) : null;
  for (const name of ['ratios', 'times']) if (flags.given(name) && kind !== 'time') throw flags.wrong(name, '--cost time beside it', kind === null ? 'none' : `--cost ${kind}`);
  const [ratios, times] = [flags.optional('ratios'), flags.optional('times')];
  if (ratios !== undefined && times !== undefined) throw flags.wrong('times', 'ratios or measured times', 'both');
  return { kind, ratios: ratios === undefined ? null : readRatios(ratios), times: times ?? null };
}

export interface OpenedProbes {
  readonly model: OpenedFolder;
  readonly probes: Probes;
  /** Of the probe that was named first. */
  readonly recipe: RecipeName;
  /** What other methods say of the sites, in that recipe. */
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
}

/** --model and --probe. Throws the named error of whatever is wrong with them; E-STO-03, -04 for an output that cannot be, or is an input (`others` beside these). */
export async function openProbes(flags: Flags, outputs: readonly string[], others: readonly string[]): Promise<OpenedProbes> {
  const paths = flags.all('probe');
  const model = await openFolder(flags.text('model'));
  const double = outputs.find((out, i) => outputs.some((other, j) => j < i && resolve(other) === resolve(out)));
  if (double !== undefined) throw new BendscopeError('E-STO-04', `expected outputs of their own, got ${double} twice`, 'Choose another name; nothing was written.');
  for (const out of outputs) await checkOutput(out, [...model.files, ...paths, ...others]);
  const [first, ...rest] = await Promise.all(paths.map((path) => readProbeFile(path, model)));
  if (!first) throw flags.wrong('probe', 'at least one', 'none');
  return { model, probes: joinProbes([first, ...rest]), recipe: first.recipe, scores: first.scores };
}

export async function costRequest({ kind: given, ratios, times }: CostWords, recipe: RecipeName, { provenance }: Probes): Promise<CostRequest> {
  const kind = given ?? (RECIPES[recipe].kind === 'out' ? 'cache' : 'gemm');
  if (kind !== 'time') return { kind };
  if (times !== null) return { kind, times: parseGemmTimes(await readText(times), times), shape: { sequences: provenance.sequences, tokens: provenance.tokens } };
  return ratios === null ? { kind } : { kind, ratios };
}

/** The formats that locked sites keep; none without --lock. */
export async function readLockFile(path: string | undefined, graph: Graph, { low }: Probes): Promise<Readonly<Record<SiteId, SiteFormat>>> {
  return path === undefined ? {} : readLocks(await readText(path), path, graph, low.map(({ format }) => format));
}

/** {"nvfp4": 0.3, ...}: time of a product in a format over that in BF16. Throws E-PLAN-09; costTable checks the range. */
function readRatios(text: string): TimeRatios {
  const hint = 'Ratios are JSON, for example {"fp8": 0.55, "nvfp4": 0.3}; BF16 is 1.';
  const value = json(text, 'E-PLAN-09', '--ratios', hint);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BendscopeError('E-PLAN-09', `--ratios: expected an object, got ${text}`, hint);
  for (const [format, ratio] of Object.entries(value)) {
    const isFormat = format === 'bf16' || (Object.hasOwn(RECIPES, format) && RECIPES[format as RecipeName].kind === 'pass');
    if (!isFormat || typeof ratio !== 'number') throw new BendscopeError('E-PLAN-09', `--ratios: expected numbers by format, got ${JSON.stringify(format)}: ${JSON.stringify(ratio)}`, hint);
  }
  return value;
}

/**
 * {"h.0.*:wgrad": "bf16", "*.mlp.c_fc:fprop": "nvfp4"}: sites as in probe --sites -> the format they keep. Throws E-PLAN-07
 * (no such object), E-PLAN-02 and -05 (sites), E-PLAN-03 (a format that no probe measured), E-PLAN-08 (two formats for one).
 */
function readLocks(text: string, path: string, graph: Graph, low: readonly RecipeName[]): Record<SiteId, SiteFormat> {
  const hint = `Locks are {"h.0.*:fprop": "bf16"}: site ids with * and ?, and the format they keep, bf16 or ${low.join(', ')}.`;
  const value = json(text, 'E-PLAN-07', path, hint);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BendscopeError('E-PLAN-07', `${path}: expected an object of sites and formats, got ${text.slice(0, 40)}`, hint);
  const [recipe] = low;
  const locks: Record<SiteId, SiteFormat> = {};
  for (const [pattern, wanted] of Object.entries(value) as [string, unknown][]) {
    const format = wanted === 'bf16' ? wanted : low.find((name) => name === wanted);
    if (format === undefined || recipe === undefined) throw new BendscopeError('E-PLAN-03', `${path}: ${pattern}: expected bf16 or ${low.join(', ')}, which the probes measured, got ${JSON.stringify(wanted)}`, hint);
    for (const id of chooseSites(graph, recipe, pattern, path)) {
      const other: SiteFormat = locks[id] ?? format;
      if (other !== format) throw new BendscopeError('E-PLAN-08', `${path}: expected one lock a site, got ${other} and ${format} for ${id}`, 'Make the patterns narrower.');
      locks[id] = format;
    }
  }
  return locks;
}
