/**
 * One Vite configuration for the dev server, the production build and Vitest.
 * `base: './'`: the build works from any host and sub-path. Text data is made from npm packages before anything runs.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { prepareData } from './.ci/prepare-data.mjs';
import { gpuEnvironment } from './.ci/browser.mjs';

prepareData();

export default defineConfig({
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: { target: 'es2023', sourcemap: true, chunkSizeWarningLimit: 1000 },
  test: {
    environment: 'node',
    include: ['src/**/*.test.{ts,tsx}', '.ci/*.test.mjs'],
    // GPU tests share one module graph, so one device and its pipelines, per process (engine.md 4.1); Dawn wants processes.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    // The adapter in CI is software.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    env: gpuEnvironment(),
  },
});
