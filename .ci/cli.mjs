/**
 * npm run --silent cli -- <command>: bundles src/cli/main.ts once per state of the sources and runs it.
 * Why a bundle: Node 20 strips no types, and the shaders come through Vite's import.meta.glob. The key is a hash of every
 * source, so nothing stale ever runs. Only the command writes to stdout.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstall, ROOT } from './ensure.mjs';

const CACHE = join(ROOT, 'node_modules', '.cache', 'bendscope-cli');
const STALE_MS = 3_600_000;

/**
 * Hash of what the bundle is made of.
 * @returns {string}
 */
function sourceKey() {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json', '.ci/cli.mjs']) hash.update(readFileSync(join(ROOT, file)));
  for (const folder of ['src', 'shaders']) {
    const files = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.(test|bench)\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .sort();
    for (const file of files) hash.update(`\0${file.slice(ROOT.length)}\0`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 24);
}

/**
 * Path of the bundled command line; builds it when this state of the sources was never built.
 * @returns {Promise<string>}
 */
async function bundle() {
  const folder = join(CACHE, sourceKey());
  const entry = join(folder, 'main.mjs');
  if (existsSync(entry)) return entry;
  const aside = `${folder}.${process.pid}`;
  const { build } = await import('vite');
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      ssr: join(ROOT, 'src', 'cli', 'main.ts'),
      target: 'node20',
      outDir: aside,
      sourcemap: 'inline',
      rolldownOptions: { output: { format: 'es', entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' } },
    },
  });
  mkdirSync(CACHE, { recursive: true });
  try {
    renameSync(aside, folder);
  } catch (error) {
    // Another process finished the same bundle first.
    rmSync(aside, { recursive: true, force: true });
    if (!existsSync(entry)) throw error;
  }
  for (const name of readdirSync(CACHE)) {
    const other = join(CACHE, name);
    if (other !== folder && Date.now() - statSync(other).mtimeMs > STALE_MS) rmSync(other, { recursive: true, force: true });
  }
  return entry;
}

ensureInstall();
process.setSourceMapsEnabled(true);
const entry = await bundle();
// npm moves to the project's root; paths on the command line are meant from where the user stands.
if (process.env['npm_lifecycle_event'] === 'cli' && process.env['INIT_CWD']) process.chdir(process.env['INIT_CWD']);
/** @type {{ main(argv: string[]): Promise<number> }} */
const { main } = await import(pathToFileURL(entry).href);
const code = await main(process.argv.slice(2));
// Dawn keeps the event loop alive; leave once both streams are flushed.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
