/** What `probe` was asked for, read and checked before a device is opened. */
import { policyHash } from '../allocate/plan';
import { canonicalJson } from '../base/canonical-json';
import { BendscopeError } from '../base/errors';
import { OUT_SCHEME, type Policy, type SiteId } from '../graph/policy';
import { recipeOptions } from '../graph/recipes';
import type { Measuring } from '../probe/session-use';
import { chooseSites } from './choose-sites';
import type { Flags } from './command-line';
import { checkOutput } from './local-files';
import { openFolder, type OpenedFolder } from './open-folder';
import { readPolicy, readRecipe } from './policy-file';
import { sayError } from './say';
import { readTokens, type Tokens } from './token-file';

export interface ProbeInputs {
  readonly out: string;
  readonly model: OpenedFolder;
  readonly tokensPath: string;
  readonly tokens: Tokens;
  readonly measuring: Measuring;
  readonly leaveOneOut: boolean;
  /** The sites to measure, in the order they are measured. */
  readonly sites: readonly SiteId[];
  /** Policies of --joint by plan hash. */
  readonly joints: ReadonlyMap<string, Policy>;
}

/** Throws the named error of whatever is wrong: recipe and options, files, sites, policies, the place of the output. */
export async function readProbe(flags: Flags): Promise<ProbeInputs> {
  const [out, tokensPath] = [flags.text('out'), flags.text('tokens')];
  const { recipe, options } = readRecipe(flags.text('recipe'), flags.optional('options'));
  const model = await openFolder(flags.text('model'));
  await checkOutput(out, [...model.files, tokensPath, ...flags.all('joint')]);
  model.warnings.forEach(sayError);
  const tokens = await readTokens(tokensPath, model.graph);
  const sites = chooseSites(model.graph, recipe, flags.optional('sites') ?? '*');
  const measuring: Measuring = { recipe, options, persistent: flags.given('persistent'), ...(recipe === OUT_SCHEME ? { outs: options } : {}) };
  const read = await readJoints(flags.all('joint'), model, measuring);
  return { out, model, tokensPath, tokens, sites, leaveOneOut: flags.given('leave-one-out'), ...read };
}

/** Op groups have one form in one session: policies that want another are refused with E-PLAN-06. */
async function readJoints(paths: readonly string[], { graph, sha256 }: OpenedFolder, measuring: Measuring): Promise<Pick<ProbeInputs, 'joints' | 'measuring'>> {
  const joints = new Map<string, Policy>();
  let { outs } = measuring;
  for (const path of paths) {
    const policy = await readPolicy(path, graph);
    if (policy.reference !== 'bf16') throw new BendscopeError('E-PLAN-04', `${path}: expected reference "bf16", got "${policy.reference}"`, 'A probe measures against the BF16 gradient.');
    if (policy.outs) {
      const own = recipeOptions(OUT_SCHEME, policy.options);
      outs ??= own;
      if (canonicalJson(own) !== canonicalJson(outs)) {
        throw new BendscopeError('E-PLAN-06', `${path}: expected op groups with options ${canonicalJson(outs)}, as the rest of this probe has them, got ${canonicalJson(own)}`, 'Measure this policy in a probe of its own.');
      }
    }
    joints.set(policyHash(policy, { modelSha256: sha256, recipe: measuring.recipe }), policy);
  }
  return { joints, measuring: outs ? { ...measuring, outs } : measuring };
}
