/**
 * Runs one installed tool on a ready clone: node .ci/tool.mjs vite build. Arguments and exit code pass through.
 */
import { spawnSync } from 'node:child_process';
import { binOf, ensureInstall, ROOT } from './ensure.mjs';

const [name = '', ...rest] = process.argv.slice(2);
ensureInstall();
const result = spawnSync(process.execPath, [binOf(name), ...rest], { cwd: ROOT, stdio: 'inherit' });
process.exit(result.status ?? 1);
