/**
 * What decides the bits of a measurement, as one short name: the shaders, and every dispatch the engine makes of them.
 * Programs are data, so they are hashed as such: those of a small model under the reference, each recipe and each of its
 * switches. A changed table row, constant or order of steps is another name; results are never continued across names.
 */
import { canonicalJson } from '../base/canonical-json';
import { sha256Hex } from '../base/sha256';
import { APP_VERSION } from '../base/version';
import { shaderHash } from '../gpu/shaders';
import { REFERENCE_POLICY, type Policy, type PolicyOptions, type RecipeName } from '../graph/policy';
import { OPTION_NAMES, RECIPES, SWITCHES } from '../graph/recipes';
import { paintableSites } from '../graph/sites';
import { compileProgram } from './compile';
import { TINY_GRAPH, TINY_SHAPE } from './self-check/tiny-model';
import { Values } from './values';

/** Everything of a recipe low. */
function lowered(recipe: RecipeName, options: PolicyOptions): Policy {
  const sites = paintableSites(TINY_GRAPH, recipe);
  if (recipe === 'fp8-out') return { ...REFERENCE_POLICY, outs: sites.map(({ node }) => node), options };
  return { ...REFERENCE_POLICY, passes: Object.fromEntries(sites.map(({ id }) => [id, recipe])), options };
}

/** A recipe as it is, then with one switch moved at a time. */
function settings(recipe: RecipeName): PolicyOptions[] {
  return [{}, ...OPTION_NAMES.filter((name) => RECIPES[recipe].switches.includes(name)).flatMap((name): PolicyOptions[] => {
    const { values } = SWITCHES[name];
    if (values === 'flag') return [{ [name]: true }];
    return values === 'u32' ? [{ [name]: 1, sr: true }] : values.map((value) => ({ [name]: value }));
  })];
}

/** Hash of the programs, 12 hexadecimal digits. */
export function programHash(): string {
  const policies = [REFERENCE_POLICY, ...Object.values(RECIPES).flatMap(({ name }) => settings(name).map((options) => lowered(name, options)))];
  const parts = policies.map((policy) => sha256Hex(new TextEncoder().encode(canonicalJson(compileProgram(new Values(TINY_GRAPH, policy), policy, TINY_SHAPE)))));
  return sha256Hex(new TextEncoder().encode(parts.join())).slice(0, 12);
}

let known: string | null = null;

/** `<version>+<shaders>.<programs>`: the version part of every run key. */
export function engineFingerprint(): string {
  return (known ??= `${APP_VERSION}+${shaderHash()}.${programHash()}`);
}
