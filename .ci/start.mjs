/**
 * npm start: packages, text data, dev server; opens the browser where there is a display, else prints the address.
 */
import { spawn } from 'node:child_process';
import { ensureInstall, ROOT } from './ensure.mjs';

ensureInstall();
const { createServer } = await import('vite');
const server = await createServer({ root: ROOT });
await server.listen();
const address = server.resolvedUrls?.local[0] ?? 'http://localhost:5173/';
const display = process.platform !== 'linux' || process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY'];
process.stdout.write(`\n  Bendscope: ${address}\n  Open it in Chrome or Edge. Ctrl+C stops the server.\n\n`);
if (display) {
  const [command, ...args] = { darwin: ['open', address], win32: ['cmd', '/c', 'start', '', address] }[/** @type {string} */ (process.platform)] ?? ['xdg-open', address];
  const opener = spawn(command ?? 'xdg-open', args, { stdio: 'ignore', detached: true });
  opener.on('error', () => process.stdout.write(`  No browser could be opened from here: open ${address} yourself.\n`));
  opener.unref();
}
const stop = () => void server.close().then(() => process.exit(0));
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
