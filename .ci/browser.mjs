/**
 * Finds what the tests need of the system: a Chromium (Playwright's own headless shell has no WebGPU), and the software
 * Vulkan driver in its folder, which Dawn for Node uses too. Plain Node without dependencies: runs before npm install.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';

const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'microsoft-edge'];
const APPS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];
const FOLDERS = ['/usr/lib/chromium', '/usr/lib/chromium-browser', '/usr/lib64/chromium-browser', '/opt/google/chrome', '/opt/chromium.org/chromium'];

/**
 * Full Chromium builds that `playwright install chromium` has put into the user's cache, newest first.
 * @returns {string[]}
 */
function playwrightBuilds() {
  const cache = process.env['PLAYWRIGHT_BROWSERS_PATH'] || join(homedir(), '.cache', 'ms-playwright');
  if (!existsSync(cache)) return [];
  const builds = readdirSync(cache).filter((name) => /^chromium-\d+$/.test(name)).sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)));
  return builds.flatMap((name) => ['chrome-linux64', 'chrome-linux'].map((folder) => join(cache, name, folder, 'chrome')));
}

/** Chromium refuses its sandbox to root; WebGPU on the software adapter needs the other two (engine.md 4.1). */
export const CHROMIUM_ARGS = ['--no-sandbox', '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

/**
 * Path of a Chromium or Chrome that starts, or null. BENDSCOPE_CHROMIUM comes first. Ubuntu's snap stub does not count.
 * @returns {string | null}
 */
export function findChromium() {
  const preset = process.env['BENDSCOPE_CHROMIUM'];
  const path = (process.env['PATH'] ?? '').split(delimiter);
  const places = [...(preset ? [preset] : []), ...COMMANDS.flatMap((name) => path.map((folder) => join(folder, name))), ...COMMANDS.map((name) => `/usr/bin/${name}`), ...APPS, ...playwrightBuilds()];
  for (const place of places) {
    if (!existsSync(place)) continue;
    const version = spawnSync(place, ['--version'], { encoding: 'utf8', timeout: 20_000 });
    if (version.status === 0 && /\d+\.\d+/.test(version.stdout)) return place;
  }
  return null;
}

/**
 * The SwiftShader driver file beside a Chromium, or null.
 * @returns {string | null}
 */
export function findSwiftShader() {
  /** @param {string[]} browsers */
  const besides = (browsers) => browsers.filter((file) => existsSync(file)).map((file) => dirname(realpathSync(file)));
  const folders = [...besides([process.env['BENDSCOPE_CHROMIUM'] ?? '']), ...FOLDERS, ...besides(playwrightBuilds())];
  return folders.map((folder) => join(folder, 'vk_swiftshader_icd.json')).find((file) => existsSync(file)) ?? null;
}

/**
 * The Vulkan loader Dawn for Node opens at run time.
 * @returns {boolean}
 */
export function hasVulkanLoader() {
  if (process.platform !== 'linux') return true;
  const cache = spawnSync('ldconfig', ['-p'], { encoding: 'utf8', env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/sbin:/usr/sbin` } });
  if (cache.status === 0 && cache.stdout.includes('libvulkan.so.1')) return true;
  return ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib'].some((folder) => existsSync(join(folder, 'libvulkan.so.1')));
}

/**
 * Environment for Dawn for Node: Chromium's software driver, unless the caller chose another; a runtime folder silences a warning.
 * @returns {Record<string, string>}
 */
export function gpuEnvironment() {
  const driver = process.env['VK_DRIVER_FILES'] ?? findSwiftShader();
  return { ...(driver ? { VK_DRIVER_FILES: driver } : {}), XDG_RUNTIME_DIR: process.env['XDG_RUNTIME_DIR'] ?? tmpdir() };
}
