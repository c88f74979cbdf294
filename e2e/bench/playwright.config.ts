/** npm run bench, second part: the page under the hand, on the production build. Prints figures and asserts nothing about time. */
import { defineConfig } from '@playwright/test';
import tests from '../../playwright.config';

// Traces would take pictures of the page at every move of the pointer, on the thread that is measured.
export default defineConfig({ ...tests, use: { ...tests.use, trace: 'off' }, testDir: '.', testMatch: '*.page-bench.ts', reporter: [['line']] });
