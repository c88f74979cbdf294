/**
 * R.json read back: what `probe` wrote, or the page as its probe record, checked as far as a plan stands on it. Several of
 * them become the formats that a site can take.
 */
import { byPrecision, costedSites, type Evidence } from '../allocate/cost';
import type { MeasuredFormat } from '../allocate/offers';
import { canonicalJson } from '../base/canonical-json';
import { BendscopeError } from '../base/errors';
import { RECIPE_NAMES, type PolicyOptions, type RecipeName, type SiteId } from '../graph/policy';
import { PROBE_SCHEMA, type BatchMeasure, type NoiseFloor, type Provenance, type SiteResult, type SiteScores } from '../graph/probe-record';
import { OPTION_NAMES, RECIPES, recipeOptions, schemeOptions } from '../graph/recipes';
import { isRecipeName, validateOptions } from '../graph/validate';
import { readText } from './local-files';
import type { OpenedFolder } from './open-folder';

export interface ProbeFile {
  readonly path: string;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly provenance: Provenance;
  readonly evidence: Evidence;
  /** Of the sites that the file has some for. */
  readonly scores: Readonly<Record<SiteId, SiteScores>>;
}

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const shown = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value)).slice(0, 90);

/** A file's reader: each value as its type, or E-FILE-07 with its place. */
class Reader {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  damaged(where: string, expected: string, got: unknown): BendscopeError {
    return new BendscopeError('E-FILE-07', `${this.#path} is damaged: ${where}: expected ${expected}, got ${shown(got)}.`, 'Run probe again; files edited by hand are not read.');
  }
  object(value: unknown, where: string): Json {
    if (!isObject(value)) throw this.damaged(where, 'an object', value);
    return value;
  }
  text(parent: Json, key: string, where: string): string {
    const value = parent[key];
    if (typeof value !== 'string') throw this.damaged(`${where}.${key}`, 'a text', value);
    return value;
  }
  /** A finite number from `low` on. */
  number(parent: Json, key: string, where: string, low = -Infinity): number {
    const value = parent[key];
    if (typeof value !== 'number' || !(value >= low)) throw this.damaged(`${where}.${key}`, low === -Infinity ? 'a number' : `a number from ${low}`, value);
    return value;
  }
  /** The same, or null. */
  numberOrNull(parent: Json, key: string, where: string, low?: number): number | null {
    return parent[key] === null ? null : this.number(parent, key, where, low);
  }
  /** Objects, each with its place; none where there is no list. */
  list<T>(parent: Json, key: string, where: string, each: (row: Json, place: string) => T): T[] {
    const value = parent[key] ?? [];
    if (!Array.isArray(value)) throw this.damaged(`${where}.${key}`, 'a list', value);
    return value.map((row, i) => each(this.object(row, `${where}.${key}.${i}`), `${where}.${key}.${i}`));
  }
  flag(parent: Json, key: string, where: string): boolean {
    const value = parent[key];
    if (typeof value !== 'boolean') throw this.damaged(`${where}.${key}`, 'true or false', value);
    return value;
  }
}

/**
 * Throws E-FILE-09, E-FILE-07 (damaged), E-VER-01 (another kind or version of file), E-PLAN-01 (another model), E-PLAN-02 (a
 * site the recipe has not), E-PLAN-03 (unknown recipe), E-PLAN-06 (options).
 */
export async function readProbeFile(path: string, { graph, sha256, name }: OpenedFolder): Promise<ProbeFile> {
  const read = new Reader(path);
  const raw = parsed(await readText(path), read);
  if (raw['schema'] !== PROBE_SCHEMA) throw new BendscopeError('E-VER-01', `${path}: expected schema ${PROBE_SCHEMA}, got ${shown(raw['schema'])}.`, 'Give what probe wrote with --out.');
  const { recipe } = raw;
  if (!isRecipeName(recipe)) throw new BendscopeError('E-PLAN-03', `${path}: expected a recipe this build measures (${RECIPE_NAMES.join(', ')}), got ${shown(recipe)}`, 'Update Bendscope if the file is from a newer one.');
  const options = recipeOptions(recipe, validateOptions(raw['options'], path));
  const provenance = provenanceOf(read.object(raw['provenance'], 'provenance'), read);
  if (provenance.modelSha256 !== sha256) {
    throw new BendscopeError('E-PLAN-01', `${path} was measured on ${provenance.modelName} with weights ${provenance.modelSha256}; --model is ${name} with ${sha256}.`, 'Give the folder of the model that was measured.');
  }
  const known = new Set(costedSites(graph, recipe).map(({ id }) => id));
  const bySite = <T>(key: 'sites' | 'scores', each: (row: Json, where: string) => T): Record<SiteId, T> =>
    Object.fromEntries(Object.entries(read.object(raw[key], key)).map(([id, row]) => {
      if (!known.has(id)) throw new BendscopeError('E-PLAN-02', `${path}: expected sites of ${graph.model} that ${recipe} can lower, got ${shown(id)}`, 'The file may be for another architecture.');
      return [id, each(read.object(row, `${key}.${id}`), `${key}.${id}`)];
    }));
  const sites = bySite('sites', (row, where) => resultOf(row, where, read));
  // A file of an earlier version has none.
  const scores = raw['scores'] === undefined ? {} : bySite('scores', (row, where): SiteScores => ({ firstOrder: read.numberOrNull(row, 'firstOrder', where, 0), snip: read.numberOrNull(row, 'snip', where, 0) }));
  return { path, recipe, options, provenance, evidence: { sites, floor: floorOf(raw['floor'], read) }, scores };
}

function parsed(text: string, read: Reader): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw read.damaged('the file', 'JSON', thrown instanceof Error ? thrown.message : '');
  }
  return read.object(value, 'the file');
}

/** Without what no plan needs: angles by parameter and layer. */
function resultOf(row: Json, where: string, read: Reader): SiteResult {
  if (row['status'] === 'failed') return { status: 'failed', errorName: read.text(row, 'errorName', where), reason: read.text(row, 'reason', where) };
  if (row['status'] !== 'measured') throw read.damaged(`${where}.status`, 'measured or failed', row['status']);
  const number = (key: string, low?: number): number => read.number(row, key, where, low);
  const numberOrNull = (key: string): number | null => read.numberOrNull(row, key, where, 0);
  return {
    status: 'measured', angleDeg: number('angleDeg', 0), cleanAngleDeg: number('cleanAngleDeg', 0), angleSeDeg: numberOrNull('angleSeDeg'), belowNoise: read.flag(row, 'belowNoise', where),
    relativeShift: number('relativeShift', 0), lengthRatio: number('lengthRatio', 0), rotationShare: number('rotationShare'), lossChange: number('lossChange'), localError: numberOrNull('localError'),
    blockAngleDeg: {}, layerAngleDeg: {}, perBatch: read.list(row, 'perBatch', where, (batch, place) => batchOf(batch, place, read)), elapsedMs: 0,
  };
}

function batchOf(row: Json, where: string, read: Reader): BatchMeasure {
  const number = (key: string, low?: number): number => read.number(row, key, where, low);
  return {
    angleDeg: number('angleDeg', 0), relativeShift: number('relativeShift', 0), lengthRatio: number('lengthRatio', 0), rotationShare: number('rotationShare'), lossChange: number('lossChange'),
    localError: read.numberOrNull(row, 'localError', where, 0),
  };
}

function floorOf(value: unknown, read: Reader): NoiseFloor | null {
  if (value === null) return null;
  const floor = read.object(value, 'floor');
  const perRun = read.list(floor, 'perRun', 'floor', (run, where) => {
    const what = read.text(run, 'what', where);
    if (what !== 'y' && what !== 'dy') throw read.damaged(`${where}.what`, 'y or dy', what);
    return { batch: read.number(run, 'batch', where, 0), node: read.text(run, 'node', where), what, angleDeg: read.number(run, 'angleDeg', where, 0) } as const;
  });
  return { forwardDeg: read.number(floor, 'forwardDeg', 'floor', 0), backwardDeg: read.number(floor, 'backwardDeg', 'floor', 0), perRun };
}

/** startedAt is empty where the file has none: two equal runs are equal files. */
function provenanceOf(p: Json, read: Reader): Provenance {
  const text = (key: string): string => read.text(p, key, 'provenance');
  const count = (key: string): number => read.number(p, key, 'provenance', 0);
  return {
    appVersion: text('appVersion'), device: text('device'), isFallbackAdapter: read.flag(p, 'isFallbackAdapter', 'provenance'), browser: text('browser'),
    modelSha256: text('modelSha256'), tokensSha256: text('tokensSha256'), modelName: text('modelName'), dataName: text('dataName'),
    seed: count('seed'), batches: count('batches'), sequences: count('sequences'), tokens: count('tokens'), startedAt: p['startedAt'] === undefined ? '' : text('startedAt'),
  };
}

export interface Probes {
  /** Highest precision first (the order of preference among equals), whatever the order of the files. */
  readonly low: readonly MeasuredFormat[];
  /** Switches of all of them together. */
  readonly options: PolicyOptions;
  readonly provenance: Provenance;
}

/** Throws E-PLAN-10 where the files do not belong together: model, data, device, floor, recipes, switches. */
export function joinProbes(files: readonly [ProbeFile, ...ProbeFile[]]): Probes {
  const [first, ...rest] = files;
  const refuse = (path: string, expected: string, got: string): BendscopeError => new BendscopeError('E-PLAN-10', `${path}: expected ${expected}, got ${got}`, 'Probes that are planned over together have one model, data and device, and each a pass recipe of its own.');
  const recipes = new Set([first.recipe]);
  for (const { path, recipe, provenance, evidence } of rest) {
    if (recipes.has(recipe)) throw refuse(path, `one probe a recipe, as of ${[...recipes].join(', ')}`, `another of ${recipe}`);
    recipes.add(recipe);
    const out = [first.recipe, recipe].find((name) => RECIPES[name].kind === 'out');
    if (out !== undefined) throw refuse(path, 'probes of GEMM passes', `op groups (${out}) among several`);
    for (const key of ['tokensSha256', 'device', 'batches', 'sequences', 'tokens'] as const) {
      if (provenance[key] !== first.provenance[key]) throw refuse(path, `${key} as in ${first.path}, ${first.provenance[key]}`, String(provenance[key]));
    }
    if (canonicalJson(evidence.floor) !== canonicalJson(first.evidence.floor)) throw refuse(path, `the noise floor of ${first.path}`, 'another');
  }
  const options = schemeOptions(recipes, Object.assign({}, ...files.map((file) => file.options)) as PolicyOptions);
  for (const { path, recipe, options: own } of files) {
    const [differs] = OPTION_NAMES.filter((name) => recipeOptions(recipe, options)[name] !== own[name]);
    // One run has one set of switches.
    if (differs !== undefined) throw refuse(path, `${differs} = ${shown(options[differs])} as another of these probes has it`, shown(own[differs] ?? false));
  }
  const order = byPrecision(options);
  return { low: files.map(({ recipe, evidence }) => ({ format: recipe, evidence })).sort((a, b) => order(a.format, b.format)), options, provenance: first.provenance };
}
