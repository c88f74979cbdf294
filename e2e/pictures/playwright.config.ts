/** npm run pictures: the README's pictures, made from the production build. Apart from the tests, which never write into the tree. */
import { defineConfig } from '@playwright/test';
import tests from '../../playwright.config';

export default defineConfig({ ...tests, testDir: '.', testMatch: '*.picture.ts' });
