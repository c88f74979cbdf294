/**
 * One Vite configuration for the dev server, the production build and Vitest.
 * `base: './'`: the build works from any host and sub-path. Text data is made from npm packages before anything runs.
 */
import react from '@vitejs/plugin-react';
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vite';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { prepareData } from './.ci/prepare-data.mjs';
import { gpuEnvironment } from './.ci/browser.mjs';

prepareData();

/** What takes longest on the software adapter, longest first: what starts last would else be waited for alone. */
const LONGEST = ['cli/golden-angles', 'probe/probe', 'cli/joint-commands', 'engine/reference/recipes', 'cli/probe-recipes', 'probe/scores', 'cli/gradient-command'];
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/src/${name}.test.ts`));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

/** The page is not sent the comments of the shaders, half of their bytes; the `@import` lines stay, which linking reads. */
const bareShaders: Plugin = {
  name: 'bare-shaders',
  apply: 'build',
  enforce: 'pre',
  load(id) {
    const [file = '', query] = id.split('?');
    if (!file.endsWith('.wgsl') || query !== 'raw') return null;
    const text = readFileSync(file, 'utf8').replace(/[ \t]*\/\/(?! @import ).*$/gm, '').replace(/\n\s+/g, '\n');
    return `export default ${JSON.stringify(text)}`;
  },
};

export default defineConfig({
  base: './',
  plugins: [react(), bareShaders],
  worker: { format: 'es', plugins: () => [bareShaders] },
  build: { target: 'es2023', sourcemap: true, chunkSizeWarningLimit: 1000 },
  test: {
    environment: 'node',
    include: ['src/**/*.test.{ts,tsx}', '.ci/*.test.mjs'],
    // GPU tests share one module graph, so one device and its pipelines, per process (engine.md 4.1); Dawn wants processes.
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // The adapter in CI is software.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    env: gpuEnvironment(),
  },
});
