/**
 * The JSON header of a safetensors file, more strictly than JSON.parse reads it: no duplicate keys, bounded depth, one
 * object, padding after it only. Each fault is reported with its byte.
 */
type Fault = (what: string, byte: number) => Error;

const MAX_DEPTH = 8;

/** Header bytes -> object, and whether zero bytes padded it (spaces are the format's own padding). Throws what `fault` makes. */
export function headerObject(bytes: Uint8Array, fault: Fault): { header: Record<string, unknown>; padded: boolean } {
  let end = bytes.length;
  let padded = false;
  for (; end > 0 && (bytes[end - 1] === 0 || bytes[end - 1] === 0x20); end -= 1) padded ||= bytes[end - 1] === 0;
  if (bytes[0] !== 0x7b) throw fault(`expected a header that begins with {, got ${describe(bytes[0])}`, 0);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, end));
  } catch {
    throw fault('expected a header in UTF-8, got other bytes', 0);
  }
  refuseDuplicateKeys(text, fault);
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    throw fault(`expected a JSON header, got a syntax error (${error instanceof Error ? error.message.slice(0, 80) : ''})`, 0);
  }
  return { header: header as Record<string, unknown>, padded };
}

function describe(byte: number | undefined): string {
  if (byte === undefined) return 'no byte';
  return byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `byte 0x${byte.toString(16).padStart(2, '0')}`;
}

/** One pass over strings and brackets; JSON.parse does the rest of the grammar. Without a recursion: depth is the file's choice. */
function refuseDuplicateKeys(text: string, fault: Fault): void {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/gsu;
  const colon = /\s*:/uy;
  const open: (Set<string> | null)[] = [];
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [word] = match;
    if (word === '{' || word === '[') {
      open.push(word === '{' ? new Set() : null);
      if (open.length > MAX_DEPTH) throw fault(`expected at most ${MAX_DEPTH} nested levels, got more`, match.index);
    } else if (word === '}' || word === ']') {
      open.pop();
    } else {
      const keys = open.at(-1);
      colon.lastIndex = token.lastIndex;
      if (!keys || !colon.test(text)) continue;
      const key = unquote(word);
      if (keys.has(key)) throw fault(`expected each name once, got ${word.slice(0, 100)} twice`, match.index);
      keys.add(key);
    }
  }
}

function unquote(word: string): string {
  try {
    return String(JSON.parse(word));
  } catch {
    return word; // JSON.parse of the whole header names the fault
  }
}
