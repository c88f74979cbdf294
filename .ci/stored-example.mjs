/**
 * npm run stored-example [-- RECIPE... [--extend]]: measures the stored probes of gpt2-mini anew, by default the one of nvfp4; `npm run
 * stored-example -- fp8-out` makes public/stored-probe-fp8-out.json. Some minutes each on a software adapter; resumable.
 * --extend: keeps what such a file of the same model, text and device holds, and measures what it lacks.
 */
import process from 'node:process';
import { createServer } from 'vite';
import { ensureInstall } from './ensure.mjs';
import { prepareData } from './prepare-data.mjs';

ensureInstall();
prepareData();
const words = process.argv.slice(2);
const recipes = words.filter((word) => word !== '--extend');
const extend = words.includes('--extend');
const server = await createServer({ configFile: false, server: { middlewareMode: true, hmr: false }, appType: 'custom', optimizeDeps: { noDiscovery: true } });
const { makeStoredExample } = await server.ssrLoadModule('/src/cli/stored-example.ts');
let code = 0;
try {
  for (const recipe of recipes.length > 0 ? recipes : ['nvfp4']) await makeStoredExample(recipe, `node_modules/.cache/bendscope-stored-probe-${recipe}.jsonl`, extend);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`);
  code = 1;
}
await server.close();
process.exit(code);
