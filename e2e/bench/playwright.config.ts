/** npm run bench, second part: the page under the hand, on the production build. Prints figures and asserts nothing about time. */
import { defineConfig } from '@playwright/test';
import tests from '../../playwright.config';

export default defineConfig({ ...tests, testDir: '.', testMatch: '*.page-bench.ts', reporter: [['line']] });
