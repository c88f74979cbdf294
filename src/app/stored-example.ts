/** The stored example as it lies beside the page: the probe of gpt2-mini and the model's config. Drawn before any worker runs. */
import { BendscopeError } from '../base/errors';
import { PROBE_SCHEMA, type ProbeRecord } from '../graph/probe-record';
import type { Gpt2Config } from '../models/gpt2';
import type { StoredExample } from '../state';

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
  const [record, config] = await Promise.all([fetchJson(`${base}stored-probe.json`), fetchJson(`${base}models/gpt2-mini/config.json`)]);
  const probe = record as ProbeRecord;
  if (probe.schema !== PROBE_SCHEMA) throw new BendscopeError('E-NET-04', `stored-probe.json: expected ${PROBE_SCHEMA}, got ${JSON.stringify(probe.schema)}`, 'Run npm run build again.');
  return { config: builtInConfig(config as Readonly<Record<string, unknown>>, probe.provenance.modelName), record: probe };
}
