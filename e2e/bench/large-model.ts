/**
 * A probe of 220 layers, 2,640 passes, in the place of the stored example: as many cells as a 126-layer Llama has passes.
 * Angles are drawn from a fixed generator; everything else is the stored example's.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';

export const LAYERS = 220;
const PUBLIC = join(import.meta.dirname, '..', '..', 'public');
const readJson = (path: string): Record<string, unknown> => JSON.parse(readFileSync(join(PUBLIC, path), 'utf8')) as Record<string, unknown>;

/** The page, opened next, finds the large model's config and probe where the built-in ones are. */
export async function serveLargeModel(page: Page): Promise<void> {
  const config = { ...readJson('models/gpt2-mini/config.json'), n_layer: LAYERS };
  const record = readJson('stored-probe.json');
  const [like] = Object.values(record['sites'] as Record<string, Record<string, unknown>>);
  let state = 12345;
  const random = (): number => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  const sites: Record<string, unknown> = {};
  for (let layer = 0; layer < LAYERS; layer++) {
    for (const op of ['attn.c_attn', 'attn.c_proj', 'mlp.c_fc', 'mlp.c_proj']) {
      for (const pass of ['fprop', 'dgrad', 'wgrad']) {
        const angleDeg = (pass === 'fprop' ? 1 : 0.3) * Math.exp(3 * (random() - 0.5));
        sites[`h.${layer}.${op}:${pass}`] = { ...like, angleDeg, cleanAngleDeg: angleDeg, blockAngleDeg: {}, layerAngleDeg: {}, localError: 0.01 * random() };
      }
    }
  }
  await page.route('**/models/gpt2-mini/config.json', (route) => route.fulfill({ json: config }));
  await page.route('**/stored-probe.json', (route) => route.fulfill({ json: { ...record, sites, scores: {}, leaveOneOut: {}, joint: {} } }));
}
