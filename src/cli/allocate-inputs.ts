/** What `allocate` was asked for, read and checked before anything is solved. */
import { COST_KINDS, type CostKind, type CostRequest, type TimeRatios } from '../allocate/costs';
import { parseGemmTimes } from '../allocate/gemm-times';
import type { Limit } from '../allocate/within';
import { BendscopeError } from '../base/errors';
import type { RecipeName, SiteFormat, SiteId } from '../graph/policy';
import type { Provenance } from '../graph/probe-record';
import { RECIPES } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { chooseSites } from './choose-sites';
import type { Flags } from './command-line';
import { checkOutput, readText } from './local-files';
import { openFolder, type OpenedFolder } from './open-folder';
import { json } from './policy-file';
import { joinProbes, readProbeFile, type Probes } from './probe-file';

/** In the figure people read: a share of everything in BF16, mean bits, or degrees. */
export type Asked = { readonly budget: number } | { readonly targetDeg: Extract<Limit, { angleDeg: number }>['angleDeg'] };

export interface AllocateInputs {
  readonly out: string;
  readonly model: OpenedFolder;
  readonly probes: Probes;
  readonly asked: Asked;
  readonly cost: CostRequest;
  /** The format that a locked site keeps. */
  readonly locks: Readonly<Record<SiteId, SiteFormat>>;
}

/** The largest budget of a kind: ratios of time can exceed 1, bits reach 16. */
const LARGEST: Readonly<Record<CostKind, number>> = { gemm: 1, cache: 1, bits: 16, time: 4 };

/** Throws the named error of whatever is wrong: flags, files, what probes have in common, locks, ratios, the place of the output. */
export async function readAllocate(flags: Flags): Promise<AllocateInputs> {
  const [paths, out] = [flags.all('probe'), flags.text('out')];
  const [times, lock] = [flags.optional('times'), flags.optional('lock')];
  const given = flags.optional('cost') === undefined ? null : flags.oneOf('cost', COST_KINDS);
  for (const name of ['ratios', 'times']) if (flags.given(name) && given !== 'time') throw flags.wrong(name, '--cost time beside it', given === null ? 'none' : `--cost ${given}`);
  if (flags.given('ratios') && flags.given('times')) throw flags.wrong('times', 'ratios or measured times', 'both');
  if (flags.given('budget') === flags.given('target-deg')) throw flags.wrong('budget', 'either --budget or --target-deg', flags.given('budget') ? 'both' : 'none');
  const targetDeg = flags.number('target-deg', 90);
  const ratios = flags.optional('ratios');
  const edited = ratios === undefined ? undefined : readRatios(ratios);

  const model = await openFolder(flags.text('model'));
  await checkOutput(out, [...model.files, ...paths, ...[times, lock].flatMap((path) => path ?? [])]);
  const [first, ...rest] = await Promise.all(paths.map((path) => readProbeFile(path, model)));
  if (!first) throw flags.wrong('probe', 'at least one', 'none');
  const probes = joinProbes([first, ...rest]);
  const kind = given ?? (RECIPES[first.recipe].kind === 'out' ? 'cache' : 'gemm');
  const budget = flags.number('budget', LARGEST[kind]);
  return {
    out, model, probes,
    asked: budget === null ? { targetDeg: targetDeg ?? NaN } : { budget },
    cost: await costRequest(kind, edited, times, probes.provenance),
    locks: lock === undefined ? {} : readLocks(await readText(lock), lock, model.graph, probes.low.map(({ format }) => format)),
  };
}

async function costRequest(kind: CostKind, ratios: TimeRatios | undefined, timesPath: string | undefined, shape: Provenance): Promise<CostRequest> {
  if (kind !== 'time') return { kind };
  if (timesPath !== undefined) return { kind, times: parseGemmTimes(await readText(timesPath), timesPath), shape: { sequences: shape.sequences, tokens: shape.tokens } };
  return ratios === undefined ? { kind } : { kind, ratios };
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
