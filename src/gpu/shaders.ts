/**
 * The one file that touches /shaders. WGSL files are real files; `// @import lib/name` lines name what they need, and
 * linking is a set union (module scope in WGSL is order-free): the transitive set, each file once.
 */
import { BendscopeError } from '../base/errors';
import { sha256Hex } from '../base/sha256';

const SOURCES: Record<string, string> = import.meta.glob('/shaders/**/*.wgsl', { query: '?raw', import: 'default', eager: true });

function sourceOf(path: string, wantedBy: string): string {
  const text = SOURCES[`/shaders/${path}.wgsl`];
  if (text === undefined) {
    throw new BendscopeError('E-BUG-02', `${wantedBy}: expected shaders/${path}.wgsl, got no such file`, 'Check the @import line.');
  }
  return text;
}

/** Kernel name -> its WGSL with every library file it needs, each once, libraries first. Throws E-BUG-02. */
export function linkShader(kernel: string): string {
  const seen = new Set<string>();
  const parts: string[] = [];
  const visit = (path: string, wantedBy: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = sourceOf(path, wantedBy);
    for (const match of text.matchAll(/^\/\/ @import (\S+)\s*$/gm)) visit(match[1] ?? '', path);
    parts.push(`// --- shaders/${path}.wgsl\n${text}`);
  };
  visit(`kernels/${kernel}`, 'linkShader');
  return parts.join('\n');
}

/** Short hash of every shader: results of one set of kernels are never continued with another. */
export function shaderHash(): string {
  const text = Object.entries(SOURCES).sort(([a], [b]) => (a < b ? -1 : 1)).flat().join('\0');
  return sha256Hex(new TextEncoder().encode(text)).slice(0, 12);
}
