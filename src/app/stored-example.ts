/**
 * The stored examples as they lie beside the page: probes of gpt2-mini, and the model's config. The first is drawn before
 * any worker runs; those of other recipes follow, so that recipes can be compared at once.
 */
import { BendscopeError } from '../base/errors';
import { PROBE_SCHEMA, type ProbeRecord } from '../graph/probe-record';
import type { Gpt2Config } from '../models/gpt2';
import type { StoredExample } from '../state';

const FIRST_EXAMPLE = 'stored-probe.json';
/** Every other `stored-probe-<recipe>.json` of public/. */
export const OTHER_EXAMPLES: readonly string[] = ['stored-probe-fp8-out.json'];

/** config.json of our own build -> the graph's numbers. What users bring is checked by the worker (src/data/hf-config.ts). */
export function builtInConfig(json: Readonly<Record<string, unknown>>, model: string): Gpt2Config {
  const number = (name: string): number => {
    const value = json[name];
    if (typeof value !== 'number') throw new BendscopeError('E-NET-04', `models/${model}/config.json: expected a number ${name}, got ${JSON.stringify(value ?? null)}`, 'Run npm run build again.');
    return value;
  };
  return { model, layers: number('n_layer'), width: number('n_embd'), heads: number('n_head'), positions: number('n_positions'), vocabulary: number('vocab_size'), eps: number('layer_norm_epsilon') };
}

async function fetchJson(url: string): Promise<unknown> {
  const wrong = (what: string): BendscopeError => new BendscopeError('E-NET-04', `${url}: expected JSON, got ${what}.`, 'Is the build complete? Run npm run build again, or reload.');
  const response = await fetch(url).catch((thrown: unknown) => {
    throw wrong(thrown instanceof Error ? thrown.message : String(thrown));
  });
  if (!response.ok) throw wrong(`status ${response.status}`);
  return response.json().catch(() => {
    throw wrong('something else');
  }) as Promise<unknown>;
}

/** `base`: the page's address, ending in `/`. Throws E-NET-04. */
export async function fetchStoredExample(base: string): Promise<StoredExample> {
  const [record, config] = await Promise.all([fetchStoredRecord(base, FIRST_EXAMPLE), fetchJson(`${base}models/gpt2-mini/config.json`)]);
  return { config: builtInConfig(config as Readonly<Record<string, unknown>>, record.provenance.modelName), record };
}

/** One of our own records. Throws E-NET-04. */
export async function fetchStoredRecord(base: string, file: string): Promise<ProbeRecord> {
  const record = (await fetchJson(`${base}${file}`)) as ProbeRecord;
  if (record.schema !== PROBE_SCHEMA) throw new BendscopeError('E-NET-04', `${file}: expected ${PROBE_SCHEMA}, got ${JSON.stringify(record.schema)}`, 'Run npm run build again.');
  return record;
}
