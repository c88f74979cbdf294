/**
 * npm test: everything that must hold, from a fresh clone, ending with `N passed, N failed` alone on the last line.
 * Types, lint and build are one counted check each; Vitest and Playwright report their tests through JSON files.
 * A runner that crashes or reports nothing counts as a failure; skipped tests are listed.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, gpuEnvironment } from './browser.mjs';
import { binOf, ensureBrowser, ensureInstall, ROOT } from './ensure.mjs';
import { prepareData } from './prepare-data.mjs';
import { addCounts, countPlaywright, countVitest } from './count.mjs';

ensureInstall();
ensureBrowser();
prepareData();

const reports = mkdtempSync(join(tmpdir(), 'bendscope-test-'));
const runtime = join(reports, 'runtime');
mkdirSync(runtime, { mode: 0o700 });
const chromium = findChromium();
const env = { ...process.env, ...gpuEnvironment(), ...(process.env['XDG_RUNTIME_DIR'] ? {} : { XDG_RUNTIME_DIR: runtime }), ...(chromium ? { BENDSCOPE_CHROMIUM: chromium } : {}), CI: '1' };

/**
 * Runs an installed tool.
 * @param {string} tool
 * @param {string[]} args
 * @param {Record<string, string>} [more]
 * @param {(text: string) => void} [hear] takes its output, which else is streamed
 * @returns {Promise<number>} exit code; 1 for a signal
 */
function run(tool, args, more = {}, hear) {
  return new Promise((resolve) => {
    const say = hear ?? ((/** @type {string} */ text) => process.stdout.write(text));
    const child = spawn(process.execPath, [binOf(tool), ...args], { cwd: ROOT, env: { ...env, ...more }, stdio: ['ignore', hear ? 'pipe' : 'inherit', hear ? 'pipe' : 'inherit'] });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', say);
    child.on('error', (error) => {
      say(`${tool} could not be started: ${error.message}\n`);
      resolve(1);
    });
    child.on('close', (code, signal) => {
      if (signal) say(`${tool} was ended by ${signal}\n`);
      resolve(code ?? 1);
    });
  });
}

/**
 * A tool whose exit code is the check; its output comes as one piece at its end, because several run side by side.
 * @param {string} title
 * @param {string} tool
 * @param {string[]} args
 * @returns {Promise<import('./count.mjs').Counts>}
 */
async function check(title, tool, args) {
  let said = '';
  const ok = (await run(tool, args, {}, (text) => (said += text))) === 0;
  process.stdout.write(`\n=== ${title}\n${said}${title}: ${ok ? 'passed' : 'FAILED'}\n`);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [] };
}

/** @param {string} title */
const heading = (title) => process.stdout.write(`\n=== ${title}\n`);

/**
 * @param {string} file
 * @returns {unknown}
 */
function report(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** @type {import('./count.mjs').Counts[]} */
const parts = [];
// Each takes one core.
const [types, lint, build] = await Promise.all([
  check('types', 'tsc', ['--noEmit', '-p', '.']),
  check('lint', 'eslint', ['src', 'e2e', '--max-warnings', '0', '--no-error-on-unmatched-pattern']),
  check('build', 'vite', ['build']),
]);
parts.push(types, lint, build);

const vitestReport = join(reports, 'vitest.json');
heading('unit, kernel and engine tests');
const vitestCode = await run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`]);
parts.push(countVitest(report(vitestReport), vitestCode));

const hasSpecs = existsSync(join(ROOT, 'e2e')) && readdirSync(join(ROOT, 'e2e'), { recursive: true }).some((file) => String(file).endsWith('.spec.ts'));
if (build.failed > 0) {
  heading('browser tests');
  process.stdout.write('not run, because the build failed: counted as one failure\n');
  parts.push({ passed: 0, failed: 1, skipped: [] });
} else if (!hasSpecs) {
  heading('browser tests');
  process.stdout.write('expected e2e/*.spec.ts, got none: counted as one failure\n');
  parts.push({ passed: 0, failed: 1, skipped: [] });
} else {
  const playwrightReport = join(reports, 'playwright.json');
  heading('browser tests on the production build');
  const code = await run('playwright', ['test', '--reporter=list,json'], { PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightReport });
  parts.push(countPlaywright(report(playwrightReport), code));
}
rmSync(reports, { recursive: true, force: true });

const total = addCounts(parts);
if (total.skipped.length > 0) process.stdout.write(`\n${total.skipped.length} skipped:\n${total.skipped.map((line) => `  ${line}\n`).join('')}`);
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed\n`);
process.exitCode = total.failed > 0 ? 1 : 0;
