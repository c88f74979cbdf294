/**
 * allocation.json: a plan with every figure it rests on, out and in again (ux.md 4.2). The same plan and probe give the
 * same bytes. Import checks everything before it returns anything: a file of another model, another version, a damaged
 * or incomplete one ends in a named error and changes nothing.
 */
import { hashOf } from '../base/canonical-json';
import { BendscopeError } from '../base/errors';
import { PASS_SCHEMES, RECIPE_NAMES, type PolicyOptions, type RecipeName, type SiteFormat, type SiteId } from '../graph/policy';
import type { Failed, Measured, Provenance, SiteResult } from '../graph/probe-record';
import { OPTION_NAMES, RECIPES, schemeOptions } from '../graph/recipes';
import type { Graph } from '../graph/types';
import { isRecipeName, validateOptions } from '../graph/validate';
import { ALLOCATION_SCHEMA, allocationSchema } from './allocation-schema';
import type { AllocationFile, AllocationRow } from './allocation-schema';
import { costedSites, formatOf, planTotals } from './cost';
import type { Evidence, PlanTotals } from './cost';
import { planHash } from './plan';
import type { Plan, PlanContext } from './plan';

export interface AllocationContext extends PlanContext {
  readonly graph: Graph;
}

type Angles = Pick<AllocationRow, 'angleDeg' | 'cleanDeg'>;

/** The facts beside a plan, of each site in the format it runs in (high: in the recipe's); provenance is null when nothing was measured. */
export interface AllocationFacts extends Evidence {
  readonly provenance: Provenance | null;
  /** Joint angles by plan hash. */
  readonly joint: Readonly<Record<string, { readonly result: Pick<Measured, 'status' | 'angleDeg'> | Failed }>>;
  /** Of plans of several low formats: angles of sites in the other ones. */
  readonly otherAngles?: Readonly<Record<SiteId, Angles>>;
}

/** Plan and facts -> the text of allocation.json, keys and sites in a fixed order. */
export function exportAllocation(plan: Plan, facts: AllocationFacts, context: AllocationContext): string {
  const { graph, recipe, options } = context;
  const sites = costedSites(graph, recipe);
  const hash = planHash(plan.formats, sites, context);
  const totals = planTotals(sites, plan.formats, facts, options);
  const joint = facts.joint[hash]?.result;
  const model: AllocationFile['model'] = { name: graph.model, sha256: context.modelSha256, layers: graph.layers, tiedHead: isHeadTied(graph) };
  const recipeRow: AllocationFile['recipe'] = { id: recipe, rht: false, sr: false, weights1d: false, ...schemeOptions([recipe, ...lowFormats(sites.map(({ id }) => formatOf(plan.formats, id)))], options) };
  const measuredOn = facts.provenance === null ? null : measuredOnRow(facts.provenance);
  const file: AllocationFile = {
    schema: ALLOCATION_SCHEMA,
    plan: { name: plan.name, notes: plan.notes, hash },
    model,
    recipe: recipeRow,
    sites: Object.fromEntries(sites.map(({ id }) => [id, siteRow(formatOf(plan.formats, id), plan.locked[id] === true, facts.sites[id], recipe, facts.otherAngles?.[id])])),
    floorDeg: facts.floor === null ? null : { forward: facts.floor.forwardDeg, backward: facts.floor.backwardDeg },
    totals: {
      ...costRow(totals),
      effectiveBits: totals.effectiveBits,
      predictedDeg: totals.predictedDeg,
      measuredDeg: joint?.status === 'measured' ? joint.angleDeg : null,
    },
    measuredOn,
    manifest: hashOf({ model, recipe: recipeRow, measuredOn: measuredOn === null ? null : { ...measuredOn, startedAt: undefined } }),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

export interface ImportedAllocation {
  readonly plan: Plan;
  readonly recipe: RecipeName;
  readonly options: PolicyOptions;
  readonly planHash: string;
  /** The whole file, for showing what it says it measured; facts of the open session are not touched. */
  readonly file: AllocationFile;
}

/**
 * Text of a file -> the plan in it, for the model that is open. `fileName` opens the messages.
 * Throws E-FILE-07 (damaged, incomplete, hash does not match), E-VER-01 (another version or kind of file),
 * E-PLAN-01 (another model), E-PLAN-02 (unknown or missing site, unknown format), E-PLAN-03 (unknown recipe, or a
 * switch it has not).
 */
export function importAllocation(text: string, context: Pick<AllocationContext, 'graph' | 'modelSha256'>, fileName = 'allocation.json'): ImportedAllocation {
  const raw = parseJson(text, fileName);
  checkVersion(raw, fileName);
  checkModel(raw, context);
  checkNames(raw, context.graph, fileName);
  const parsed = allocationSchema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw damaged(fileName, `${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'unexpected content'}`);
  }
  const file = parsed.data;
  const { id: recipe, ...switches } = file.recipe;
  const sites = costedSites(context.graph, recipe);
  const rows = new Map(Object.entries(file.sites));
  const formats: Record<SiteId, SiteFormat> = {};
  const locked: Record<SiteId, true> = {};
  for (const { id } of sites) {
    const row = rows.get(id);
    if (row === undefined) throw new BendscopeError('E-PLAN-02', `${fileName}: expected all ${sites.length} sites of ${context.graph.model}, got ${rows.size}: ${id} is missing`, 'Export the plan again from the page that has it.');
    formats[id] = row.format;
    if (row.locked) locked[id] = true;
  }
  const options = schemeOptions([recipe, ...lowFormats(Object.values(formats))], validateOptions(switches, fileName));
  const hash = planHash(formats, sites, { modelSha256: context.modelSha256, recipe, options });
  if (file.plan.hash !== undefined && file.plan.hash !== hash) throw damaged(fileName, 'plan.hash is not the hash of its formats', 'If the file was edited by hand, delete plan.hash and import it again.');
  return { plan: { name: file.plan.name, formats, locked, notes: file.plan.notes }, recipe, options, planHash: hash, file };
}

const UNMEASURED = { angleDeg: {}, cleanDeg: {}, standardErrorDeg: null, belowNoise: null, relativeShift: null, lengthRatio: null, rotationShare: null, lossChange: null, localError: null };

function siteRow(format: SiteFormat, locked: boolean, result: SiteResult | undefined, recipe: RecipeName, others?: Angles): AllocationRow {
  const none = { ...UNMEASURED, ...others };
  if (result === undefined) return { format, locked, status: 'unmeasured', reason: null, ...none };
  // JSON has no NaN: an angle that is none is a failure with a reason, as everywhere else.
  if (result.status === 'measured' && !(Number.isFinite(result.angleDeg) && Number.isFinite(result.cleanAngleDeg))) {
    return { format, locked, status: 'failed', reason: `E-RUN-01: the angle is ${result.angleDeg}`, ...none };
  }
  if (result.status === 'failed') return { format, locked, status: 'failed', reason: `${result.errorName}: ${result.reason}`, ...none };
  const own = format === 'bf16' ? recipe : format;
  return {
    format, locked, status: 'measured', reason: null,
    angleDeg: byScheme({ ...others?.angleDeg, [own]: result.angleDeg }), cleanDeg: byScheme({ ...others?.cleanDeg, [own]: result.cleanAngleDeg }), standardErrorDeg: result.angleSeDeg,
    belowNoise: result.belowNoise, relativeShift: result.relativeShift, lengthRatio: result.lengthRatio, rotationShare: result.rotationShare, lossChange: result.lossChange, localError: result.localError,
  };
}

/** Keys in the order of the recipes. */
function byScheme(angles: Angles['angleDeg']): Angles['angleDeg'] {
  return Object.fromEntries(RECIPE_NAMES.flatMap((name) => (angles[name] === undefined ? [] : [[name, angles[name]]])));
}

/** The low ones of some formats, known or not yet known to be any. */
function lowFormats(formats: readonly unknown[]): RecipeName[] {
  return formats.filter(isRecipeName);
}

function costRow({ hpCost, hpShare, relativeToFixed }: PlanTotals): Partial<AllocationFile['totals']> {
  return relativeToFixed === null ? { hpGemmWork: hpShare } : { hpActivationCache: { share: hpShare, bytesPerToken: hpCost, relativeToFixed } };
}

function measuredOnRow(p: Provenance): NonNullable<AllocationFile['measuredOn']> {
  return {
    data: { name: p.dataName, sha256: p.tokensSha256, seed: p.seed, batches: p.batches, sequences: p.sequences, tokens: p.tokens },
    device: p.device, isFallbackAdapter: p.isFallbackAdapter, browser: p.browser, appVersion: p.appVersion, startedAt: p.startedAt,
  };
}

/** Whether the head reads the token table instead of a matrix of its own. */
function isHeadTied(graph: Graph): boolean {
  const tables = new Set(graph.nodes.flatMap((node) => (node.params['table'] === undefined ? [] : [node.params['table']])));
  return graph.nodes.some((node) => node.op === 'linear' && tables.has(node.params['weight'] ?? ''));
}

function parseJson(text: string, fileName: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    throw damaged(fileName, `not JSON${whereJsonBroke(text, thrown)}`);
  }
  if (!isObject(value)) throw damaged(fileName, 'expected an object at byte 0');
  return value;
}

/** ` at byte n`, as far as the engine's own words tell; it counts UTF-16 units. */
function whereJsonBroke(text: string, thrown: unknown): string {
  const said = thrown instanceof Error ? thrown.message : '';
  const position = /end of (JSON|data|input)/.test(said) ? text.length : /position (\d+)/.exec(said)?.[1];
  return position === undefined ? '' : ` at byte ${new TextEncoder().encode(text.slice(0, Number(position))).length}`;
}

function checkVersion(raw: Readonly<Record<string, unknown>>, fileName: string): void {
  const schema = raw['schema'];
  if (schema === ALLOCATION_SCHEMA) return;
  const [kind, reads] = ALLOCATION_SCHEMA.split('/');
  const version = typeof schema === 'string' && schema.startsWith(`${kind}/`) ? schema.slice(kind!.length + 1) : null;
  const isNewer = version !== null && /^\d+$/.test(version) && Number(version) > Number(reads);
  if (isNewer) throw new BendscopeError('E-VER-01', `Saved with a newer version (${String(schema)}): not opened. This build reads ${ALLOCATION_SCHEMA}.`, 'Update the app.');
  throw new BendscopeError('E-VER-01', `${fileName}: expected schema ${ALLOCATION_SCHEMA}, got ${show(schema)}: not opened.`, 'Choose an allocation.json that Bendscope exported.');
}

function checkModel(raw: Readonly<Record<string, unknown>>, { graph, modelSha256 }: Pick<AllocationContext, 'graph' | 'modelSha256'>): void {
  const model = raw['model'];
  if (!isObject(model)) return;
  const { name, sha256 } = model;
  // The hash is the model; its name is only what its folder was called.
  if (sha256 === modelSha256) return;
  if (typeof name === 'string' && name !== graph.model) throw new BendscopeError('E-PLAN-01', `This plan was made for ${show(name)}; the open model is ${show(graph.model)}.`, `Open ${show(name)} first, then import the plan again.`);
  if (typeof sha256 === 'string') {
    throw new BendscopeError('E-PLAN-01', `This plan was made for ${show(name)} with weights ${show(sha256)}; the open model is ${show(graph.model)} with ${show(modelSha256)}.`, 'Open the weights the plan was made for, then import it again.');
  }
}

/** What this build does not know by name, said by name before the schema would say it by type. */
function checkNames(raw: Readonly<Record<string, unknown>>, graph: Graph, fileName: string): void {
  const { recipe, sites } = raw;
  const { id, ...switches } = isObject(recipe) ? recipe : {};
  const update = 'Update the app if the file is from a newer one.';
  if (typeof id !== 'string') return;
  if (!isRecipeName(id)) throw new BendscopeError('E-PLAN-03', `${fileName}: expected a recipe this build measures, got ${show(id)}`, update);
  const known = new Set(costedSites(graph, id).map((site) => site.id));
  const accepted: readonly string[] = ['bf16', ...(RECIPES[id].kind === 'pass' ? PASS_SCHEMES : [id])];
  const rows = Object.entries(isObject(sites) ? sites : {}).map(([site, row]) => ({ site, format: isObject(row) ? row['format'] : undefined }));
  const readers = [id, ...lowFormats(rows.map((row) => row.format))];
  const foreign = OPTION_NAMES.find((name) => (switches[name] ?? false) !== false && !readers.some((reader) => RECIPES[reader].switches.includes(name)));
  if (foreign !== undefined) throw new BendscopeError('E-PLAN-03', `${fileName}: expected switches of ${[...new Set(readers)].join(', ')}, got ${foreign}`, update);
  for (const { site, format } of rows) {
    if (!known.has(site)) throw new BendscopeError('E-PLAN-02', `${fileName}: expected a site of ${graph.model} that the recipe can lower, got ${show(site)}`, 'The file may be for another architecture.');
    if (typeof format !== 'string' || accepted.includes(format)) continue;
    throw new BendscopeError('E-PLAN-02', `${fileName}: ${site}: expected the format ${accepted.map((name) => (name === 'bf16' ? name : show(name))).join(' or ')}, got ${show(format)}`, update);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function damaged(fileName: string, what: string, hint = 'Export the plan again, or choose another file. Nothing was changed.'): BendscopeError {
  return new BendscopeError('E-FILE-07', `${fileName} is damaged: ${what}.`, hint);
}

/** A stranger's value, short enough to stand in a message. */
function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 90 ? `${text.slice(0, 90)}..."` : text;
}
