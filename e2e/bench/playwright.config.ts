/** npm run bench, second part: the page under the hand, on the production build. Prints figures and asserts nothing about time. */
import { defineConfig } from '@playwright/test';
import tests from '../../playwright.config';

// Traces would take pictures of the page at every move of the pointer, on the thread that is measured.
// One page at a time: what is measured wants the machine.
export default defineConfig({ ...tests, workers: 1, use: { ...tests.use, trace: 'off' }, testDir: '.', testMatch: '*.page-bench.ts', reporter: [['line']] });
