/** npm run stored-example: measures public/stored-probe.json anew (some minutes on a software adapter; resumable). */
import process from 'node:process';
import { createServer } from 'vite';
import { ensureInstall } from './ensure.mjs';
import { prepareData } from './prepare-data.mjs';

ensureInstall();
prepareData();
const server = await createServer({ configFile: false, server: { middlewareMode: true, hmr: false }, appType: 'custom', optimizeDeps: { noDiscovery: true } });
const { makeStoredExample } = await server.ssrLoadModule('/src/cli/stored-example.ts');
await makeStoredExample('gpt2-mini', 'public/stored-probe.json', 'node_modules/.cache/bendscope-stored-probe.jsonl');
await server.close();
process.exit(0);
