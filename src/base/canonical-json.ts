/**
 * Canonical JSON and its hash: how a plan, a run or a manifest gets one name, `sha256:<hex>`, in the page, the worker and
 * Node alike. Synchronous and without WebCrypto, which a page served over plain http lacks; the texts are a few kilobytes.
 */
import { BendscopeError } from './errors';
import { sha256Hex } from './sha256';

/**
 * JSON with sorted keys and no white space, so that equal values give equal text. Keys whose value is undefined are left out.
 * Throws E-BUG-03 for a number that JSON cannot hold.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new BendscopeError('E-BUG-03', `canonicalJson: expected a finite number, got ${value}`);
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** `sha256:<64 hex digits>` of the canonical JSON of a value. */
export function hashOf(value: unknown): string {
  return `sha256:${sha256Hex(new TextEncoder().encode(canonicalJson(value)))}`;
}
