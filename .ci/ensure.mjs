/**
 * Makes a fresh clone ready: npm packages at the lockfile's versions, then (tests only) Chromium and the Vulkan loader
 * through the system's package manager. Plain Node without dependencies. What cannot be installed is named, with the command.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium, findSwiftShader, hasVulkanLoader } from './browser.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMP = join(ROOT, 'node_modules', '.bendscope-lock');
const NPM_LIST = join(ROOT, 'node_modules', '.package-lock.json');

/**
 * Ends the process with a sentence a reader can act on.
 * @param {string} message
 * @returns {never}
 */
export function giveUp(message) {
  process.stderr.write(`\n${message}\n`);
  process.exit(1);
}

/**
 * A command of an installed package, without a shell: [node, script].
 * @param {string} name
 * @returns {string}
 */
export function binOf(name) {
  const [pkg, script] = { vite: ['vite', 'vite'], vitest: ['vitest', 'vitest'], tsc: ['typescript', 'tsc'], eslint: ['eslint', 'eslint'], playwright: ['@playwright/test', 'playwright'] }[name] ?? [];
  if (pkg === undefined || script === undefined) throw new Error(`binOf: expected a known command, got ${name}`);
  /** @type {{ bin: string | Record<string, string> }} */
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'node_modules', pkg, 'package.json'), 'utf8'));
  const file = typeof bin === 'string' ? bin : bin[script];
  if (file === undefined) throw new Error(`binOf: ${pkg} has no command ${script}`);
  return join(ROOT, 'node_modules', pkg, file);
}

/**
 * Runs `npm ci` when node_modules is missing or was made from another lockfile. npm's output goes to stderr.
 * The stamp holds the lockfile's hash: times mean nothing after a clone or a checkout.
 */
export function ensureInstall() {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major < 20) giveUp(`Node ${process.versions.node} is too old: install Node 20 or newer.`);
  const lock = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json'))).digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  // A node_modules made by hand with npm: believed when npm wrote it after the lockfile last changed.
  const current = existsSync(NPM_LIST) && !existsSync(STAMP) && statSync(NPM_LIST).mtimeMs >= statSync(join(ROOT, 'package-lock.json')).mtimeMs;
  if (!current) {
    process.stderr.write('Installing npm packages (npm ci) ...\n');
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const result = spawnSync(npm, ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd: ROOT, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
    if (result.status !== 0) giveUp(`npm ci failed (${result.error?.message ?? `exit code ${result.status}`}). Check the network connection, then run it again by hand: npm ci`);
  }
  writeFileSync(STAMP, lock);
}

/**
 * @param {string} name
 * @returns {boolean}
 */
function has(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;
}

/** A Chromium and the Vulkan loader, installed with apt-get where allowed; else says what to do and ends the process. */
export function ensureBrowser() {
  const lacking = () => [
    ...(findChromium() === null || findSwiftShader() === null ? ['chromium'] : []),
    ...(hasVulkanLoader() ? [] : ['libvulkan1']),
  ];
  const packages = lacking();
  if (packages.length === 0) return;
  const command = `apt-get update && apt-get install -y ${packages.join(' ')}`;
  const advice = [
    `The tests need what this machine lacks: ${packages.join(' and ')}.`,
    `Debian:  sudo sh -c '${command}'`,
    'Ubuntu (its chromium is a snap without the driver file):  sudo apt-get install -y libvulkan1 && npx playwright install --with-deps chromium',
    'Elsewhere: install Chromium or Google Chrome, set BENDSCOPE_CHROMIUM to its path, and install the Vulkan loader (libvulkan.so.1).',
    'Then run npm test again.',
  ].join('\n');
  const root = process.getuid?.() === 0;
  const sudo = !root && has('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
  if (!has('apt-get') || !(root || sudo)) giveUp(advice);
  process.stderr.write(`Installing ${packages.join(' ')} with apt-get ...\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const prefix = sudo ? ['sudo', '-n', 'env', 'DEBIAN_FRONTEND=noninteractive'] : [];
  for (const words of [['apt-get', 'update'], ['apt-get', 'install', '-y', ...packages]]) {
    const [first = '', ...rest] = [...prefix, ...words];
    const result = spawnSync(first, rest, { stdio: ['ignore', 2, 2], env });
    if (result.status !== 0) giveUp(`${words.join(' ')} failed.\n${advice}`);
  }
  const still = lacking();
  if (still.length > 0) giveUp(`Still missing after apt-get: ${still.join(' and ')}.\n${advice}`);
}
