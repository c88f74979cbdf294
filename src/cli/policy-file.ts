/** P.json and other JSON arguments, before src/graph checks what they say. */
import { BendscopeError } from '../base/errors';
import type { Policy, PolicyOptions } from '../graph/policy';
import type { Graph } from '../graph/types';
import { validateOptions, validatePolicy } from '../graph/validate';
import { readText } from './local-files';

/** Throws E-FILE-09, E-PLAN-07 (not JSON, not a policy) and E-PLAN-02 to -06 (what it asks for). */
export async function readPolicy(path: string, graph: Graph): Promise<Policy> {
  const text = await readText(path);
  return validatePolicy(graph, json(text, 'E-PLAN-07', path, 'A policy is {"reference": "bf16", "passes": {"h.0.attn.c_attn:fprop": "nvfp4"}, "options": {}}.'));
}

/** The value of --options. Throws E-PLAN-06. */
export function parseOptions(text: string | undefined): PolicyOptions {
  return text === undefined ? {} : validateOptions(json(text, 'E-PLAN-06', '--options', 'Options of this build: {"weights1d": true|false}.'));
}

function json(text: string, code: string, where: string, hint: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new BendscopeError(code, `${where}: expected JSON, got ${thrown instanceof Error ? thrown.message : String(thrown)}`, hint);
  }
}
