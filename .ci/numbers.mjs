/**
 * npm run numbers: the gradient and angle checks against the PyTorch goldens for gpt2-nano and gpt2-mini. The mini half
 * takes about ten minutes on a software adapter, so `npm test` runs the nano half only.
 */
import { spawnSync } from 'node:child_process';
import { binOf, ensureInstall, ROOT } from './ensure.mjs';

ensureInstall();
const result = spawnSync(process.execPath, [binOf('vitest'), 'run', 'src/cli/golden'], { cwd: ROOT, stdio: 'inherit', env: { ...process.env, BENDSCOPE_MINI: '1' } });
process.exit(result.status ?? 1);
