/** How long the way to the first gradient takes before the GPU sees anything: npm run bench. */
import { readFileSync } from 'node:fs';
import { bench } from 'vitest';
import { sha256 } from './hash';
import { openSafetensors, tensorFloats } from './safetensors';
import { parseTokenizer } from './tokenizer';
import { drawWindows } from './windows';

const read = (path: string): Uint8Array => readFileSync(new URL(`../../public/${path}`, import.meta.url));
const weights = read('models/gpt2-mini/model.safetensors');
const tokenizerJson = read('models/gpt2-mini/tokenizer.json').toString();
const text = read('text/moby-dick.txt').toString().slice(0, 100_000);
const tokenizer = parseTokenizer(tokenizerJson);
const ids = tokenizer.encode(text);

bench('open gpt2-mini and decode every tensor to FP32 (2.7 MB)', () => {
  const opened = openSafetensors(weights);
  for (const name of opened.tensors.keys()) tensorFloats(opened, name);
});
bench('SHA-256 of the weights (2.7 MB)', async () => {
  await sha256(weights);
});
bench('read tokenizer.json', () => {
  parseTokenizer(tokenizerJson);
});
bench('tokenize 100,000 characters', () => {
  tokenizer.encode(text);
});
bench('draw 8 batches of 8 x 128', () => {
  drawWindows(ids, { batches: 8, sequences: 8, tokens: 128, seed: 1 });
});
