/**
 * npm run numbers: every check against the PyTorch goldens: all sites of all recipes of gpt2-nano on all batches, and
 * gpt2-mini: gradients, the sites of nvfp4 and fp8-out, the joints of every recipe. Half an hour or more on a software
 * adapter, so `npm test` runs a part of the nano half only.
 */
import { spawnSync } from 'node:child_process';
import { binOf, ensureInstall, ROOT } from './ensure.mjs';

ensureInstall();
const result = spawnSync(process.execPath, [binOf('vitest'), 'run', 'src/cli/golden'], { cwd: ROOT, stdio: 'inherit', env: { ...process.env, BENDSCOPE_NUMBERS: '1' } });
process.exit(result.status ?? 1);
