/**
 * End-to-end tests on the production build (`vite preview` of dist) in the system's Chromium with the software adapter.
 */
import { execFileSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';
import { CHROMIUM_ARGS, findChromium } from './.ci/browser.mjs';

const FREE_PORT = "const s = require('node:net').createServer().listen(0, () => { process.stdout.write(String(s.address().port)); s.close(); })";
/** A port that nobody uses, asked of the system once; the test processes inherit it through the environment. */
const PORT = Number((process.env['BENDSCOPE_TEST_PORT'] ??= execFileSync(process.execPath, ['-e', FREE_PORT], { encoding: 'utf8' })));
const chromium = findChromium();
if (chromium === null) throw new Error('playwright.config: expected a Chromium, got none - install chromium or set BENDSCOPE_CHROMIUM');

export default defineConfig({
  testDir: 'e2e',
  testMatch: '**/*.spec.ts',
  timeout: 180_000,
  expect: { timeout: 20_000 },
  // A page waits as much as it computes: two fill both cores. Nothing here is timed; what is lies in e2e/bench.
  workers: 2,
  fullyParallel: true,
  retries: 0,
  forbidOnly: true,
  reporter: [['list']],
  use: {
    baseURL: `http://localhost:${PORT}`,
    viewport: { width: 1440, height: 900 },
    actionTimeout: 20_000,
    // A trace copies the page at every action, whether the test fails or not: `npx playwright test --trace on` asks for it.
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: { executablePath: chromium, args: CHROMIUM_ARGS, headless: true },
  },
  projects: [{ name: 'chromium' }],
  webServer: {
    command: `npx vite preview --port ${PORT} --strictPort`,
    url: `http://localhost:${PORT}`,
    reuseExistingServer: false,
    timeout: 60_000,
    cwd: import.meta.dirname,
  },
});
