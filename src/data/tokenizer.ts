/**
 * tokenizer.json -> ids and back, through @huggingface/tokenizers (whose ids equal the Python library's on the golden).
 * Special tokens written out in the text become their ids, as there; none are added.
 */
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { BendscopeError } from '../base/errors';

export interface Tokenizer {
  /** Text -> token ids. */
  encode(text: string): Uint32Array<ArrayBuffer>;
  /** Token ids -> text; a cut in the middle of a character shows as U+FFFD. */
  decode(ids: ArrayLike<number>): string;
}

/** The text of a tokenizer.json -> tokenizer. Throws E-FILE-07 when it is not one, E-FILE-08 when its kind is not known. */
export function parseTokenizer(json: string, file = 'tokenizer.json'): Tokenizer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new BendscopeError('E-FILE-07', `${file} is damaged: expected JSON, got ${error instanceof Error ? error.message : String(error)}.`, 'Download or export the file again.');
  }
  const model = (parsed as { model?: { vocab?: unknown } | null } | null)?.model;
  if (typeof parsed !== 'object' || parsed === null || model?.vocab === undefined) {
    throw new BendscopeError('E-FILE-07', `${file} is damaged: expected a tokenizer with model.vocab, got none.`, 'Use the tokenizer.json of the model; tokenizer_config.json is another file.');
  }
  let inner: HuggingFaceTokenizer;
  try {
    inner = new HuggingFaceTokenizer(parsed, {});
  } catch (error) {
    throw new BendscopeError('E-FILE-08', `${file}: expected a tokenizer of a known kind, got ${error instanceof Error ? error.message : String(error)}.`, 'GPT-2 style byte-level BPE is supported.');
  }
  return {
    encode: (text) => Uint32Array.from(inner.encode(text, { add_special_tokens: false }).ids),
    decode: (ids) => (ids.length === 0 ? '' : inner.decode(Array.from(ids), { skip_special_tokens: false, clean_up_tokenization_spaces: false })),
  };
}
