/** What `compare` was asked for, read and checked before a device is opened. */
import { basename } from 'node:path';
import type { CostRequest } from '../allocate/costs';
import { canonicalJson } from '../base/canonical-json';
import { BendscopeError } from '../base/errors';
import { PASS_SCHEMES, type RecipeName } from '../graph/policy';
import { RECIPES, schemeOptions } from '../graph/recipes';
import { costRequest, LARGEST_BUDGET, openProbes, readCostWords, type OpenedProbes } from './allocate-inputs';
import type { Flags } from './command-line';
import { methodIds, OURS, type GivenPlan } from './compare-plans';
import { readPlan } from './plan-file';
import { sayError } from './say';
import { readTokens, type Tokens } from './token-file';

export interface CompareInputs extends OpenedProbes {
  readonly out: string;
  readonly csv: string | null;
  readonly journal: { readonly path: string; readonly kept: boolean };
  readonly tokensPath: string;
  readonly tokens: Tokens;
  readonly cost: CostRequest;
  readonly budgets: readonly number[];
  /** Baselines by id; null: all of the recipe. */
  readonly methods: readonly string[] | null;
  readonly given: readonly GivenPlan[];
  /** Low formats beside those probed that costs should cover: those that baselines and given plans may hold. */
  readonly priced: readonly RecipeName[];
}

/** Throws the named error of whatever is wrong: budgets and methods (E-CLI-01), files, what probes or plans have in common (E-PLAN-10). */
export async function readCompare(flags: Flags): Promise<CompareInputs> {
  const [out, tokensPath, csv, times] = [flags.text('out'), flags.text('tokens'), flags.optional('csv'), flags.optional('times')];
  const journal = flags.optional('journal');
  const planPaths = flags.all('plans');
  const words = readCostWords(flags);
  const names = planPaths.map((path) => basename(path));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw flags.wrong('plans', 'files of different names', `${twice} twice`);

  const outputs = [out, csv, journal].flatMap((path) => path ?? []);
  const opened = await openProbes(flags, outputs, [tokensPath, times, ...planPaths].flatMap((path) => path ?? []));
  const { model, probes, recipe } = opened;
  const cost = await costRequest(words, recipe, probes);
  const budgets = readBudgets(flags, LARGEST_BUDGET[cost.kind]);
  const methods = readMethods(flags, recipe);
  model.warnings.forEach(sayError);
  const tokens = await readTokens(tokensPath, model.graph);
  const given: GivenPlan[] = [];
  for (const [i, path] of planPaths.entries()) given.push(await readGiven(path, names[i]!, opened));
  return {
    ...opened, out, csv: csv ?? null, journal: journal === undefined ? { path: `${out}.journal`, kept: false } : { path: journal, kept: true },
    tokensPath, tokens, cost, budgets, methods, given,
    priced: RECIPES[recipe].kind === 'pass' && !('times' in cost) ? PASS_SCHEMES : [],
  };
}

/** Different budgets, ascending. */
function readBudgets(flags: Flags, most: number): number[] {
  const text = flags.text('budgets');
  const numbers = text.split(',').map((part) => (/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(part.trim()) ? Number(part) : NaN));
  if (!numbers.every((budget) => budget <= most)) throw flags.wrong('budgets', `numbers from 0 to ${most} by commas`, `"${text}"`);
  return [...new Set(numbers)].sort((a, b) => a - b);
}

function readMethods(flags: Flags, recipe: RecipeName): string[] | null {
  const text = flags.optional('methods');
  if (text === undefined) return null;
  const known = methodIds(recipe);
  const asked = text.split(',').map((part) => part.trim()).filter((id) => id !== OURS.id);
  const unknown = asked.find((id) => !known.includes(id));
  if (unknown !== undefined) throw flags.wrong('methods', `methods of ${recipe}, ${known.join(', ')}`, `"${unknown}"`);
  return asked;
}

/** A plan that can run in the session of this comparison: sites of the same kind, the same switches. */
async function readGiven(path: string, name: string, { model, probes, recipe }: OpenedProbes): Promise<GivenPlan> {
  const { plan, recipe: own, options } = await readPlan(path, model);
  const hint = 'Compare it in a comparison of its own recipe and switches.';
  if (RECIPES[own].kind !== RECIPES[recipe].kind) throw new BendscopeError('E-PLAN-10', `${path}: expected a plan of ${RECIPES[recipe].kind === 'out' ? 'op groups' : 'GEMM passes'} as the probes are, got one of ${own}`, hint);
  const low = [...new Set(Object.values(plan.formats))].filter((format) => format !== 'bf16');
  const [mine, theirs] = [schemeOptions(low, probes.options), schemeOptions(low, options)].map(canonicalJson);
  if (mine !== theirs) throw new BendscopeError('E-PLAN-10', `${path}: expected options ${mine} as the probes have them, got ${theirs}`, hint);
  return { name, plan };
}
