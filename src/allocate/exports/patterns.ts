/**
 * Patterns that pick exactly these layers: anchored regular expressions that Python and JavaScript read alike, globs of
 * Python's fnmatch, and string literals of the files. Layer 1 must not match 10 or 11.
 */

export interface LayerName {
  readonly name: string;
  readonly layer: number;
}

/** A name around its layer number; null where the number does not stand in it exactly once, between dots. */
export function splitAtLayer({ name, layer }: LayerName): { readonly head: string; readonly tail: string } | null {
  const parts = name.split('.');
  const at = parts.indexOf(String(layer));
  if (at < 0 || parts.lastIndexOf(String(layer)) !== at) return null;
  return { head: parts.slice(0, at).map((part) => `${part}.`).join(''), tail: parts.slice(at + 1).map((part) => `.${part}`).join('') };
}

/**
 * `^...$` over these names and no other. Layers that share head and tails are written once:
 * `^h\.(?:0|10)\.(?:mlp\.fc1|mlp\.fc2)$`.
 */
export function anchoredRegex(layers: readonly LayerName[]): string {
  const whole: string[] = [];
  const tails = new Map<string, { readonly head: string; readonly tail: string; readonly numbers: number[] }>();
  for (const layer of layers) {
    const split = splitAtLayer(layer);
    if (split === null) {
      whole.push(escapeRegex(layer.name));
      continue;
    }
    const key = JSON.stringify([split.head, split.tail]);
    const known = tails.get(key);
    if (known) known.numbers.push(layer.layer);
    else tails.set(key, { ...split, numbers: [layer.layer] });
  }
  const shared = new Map<string, string[]>();
  for (const { head, tail, numbers } of tails.values()) {
    const start = escapeRegex(head) + anyOf(numbers.sort((a, b) => a - b).map(String));
    shared.set(start, [...(shared.get(start) ?? []), escapeRegex(tail)]);
  }
  return `^${anyOf([...[...shared].map(([start, ends]) => start + anyOf(ends)), ...whole])}$`;
}

function anyOf(alternatives: readonly string[]): string {
  return alternatives.length === 1 ? alternatives.join('') : `(?:${alternatives.join('|')})`;
}

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A glob that matches this text only. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?[]/g, '[$&]');
}

/** Python's fnmatch: `*` crosses dots; `[...]` is a set. */
export function globMatches(glob: string, name: string): boolean {
  const source = glob.replace(/\[(!?)([^\]]+)\]|[\s\S]/g, (part, not: string | undefined, set: string | undefined) => {
    if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]`;
    return part === '*' ? '[\\s\\S]*' : part === '?' ? '[\\s\\S]' : escapeRegex(part);
  });
  return new RegExp(`^${source}$`).test(name);
}

/** A double-quoted literal in ASCII that JSON (below U+10000), YAML and Python read as the same string. */
export function quoted(text: string): string {
  const inner = Array.from(text, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (character === '"' || character === '\\') return `\\${character}`;
    if (code >= 0x20 && code < 0x7f) return character;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `"${inner.join('')}"`;
}

/** A YAML string; single quotes where they show it as it is, for the backslashes of patterns. */
export function yamlString(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? `'${text.replaceAll("'", "''")}'` : quoted(text);
}

/** Text that cannot end the line of a comment: other than printable ASCII is escaped. */
export function inComment(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : quoted(text).slice(1, -1);
}

export function pythonBool(value: boolean | undefined): string {
  return value === true ? 'True' : 'False';
}
