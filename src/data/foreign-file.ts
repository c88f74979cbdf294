/**
 * Tells what a file is that was dropped in place of a safetensors file, and refuses it by name (ux.md 4.1).
 */
import { BendscopeError } from '../base/errors';

interface Foreign {
  readonly offset: number;
  readonly magic: string;
  readonly code: string;
  readonly message: (file: string) => string;
  readonly hint: string;
}

const PICKLE = (file: string): string => `${file} is a PyTorch pickle. Opening it would run code, so we do not.`;
const CONVERT =
  "Convert it with: python3 -c \"import torch; from safetensors.torch import save_file; save_file({k: v.contiguous() for k, v in torch.load('FILE', weights_only=True).items()}, 'model.safetensors')\"";
const is = (what: string) => (file: string) => `${file} is ${what}, not a safetensors file.`;
const NEED = 'Bendscope needs the FP32, F16 or BF16 weights as model.safetensors.';
const NO_BACKWARD = 'Inference graphs have no backward pass. Open the checkpoint the graph was exported from.';

const FOREIGN: readonly Foreign[] = [
  { offset: 0, magic: 'version https://git-lfs', code: 'E-FILE-04', message: () => 'This is a Git LFS pointer (a text stub of about 130 bytes), not the weights.', hint: 'Run git lfs pull, or download the file itself.' },
  { offset: 0, magic: 'PK\x03\x04', code: 'E-FILE-01', message: PICKLE, hint: CONVERT },
  ...[0, 1, 2, 3, 4, 5].map((protocol) => ({ offset: 0, magic: `\x80${String.fromCharCode(protocol)}`, code: 'E-FILE-01', message: PICKLE, hint: CONVERT })),
  { offset: 0, magic: 'GGUF', code: 'E-FILE-08', message: is('a GGUF file (quantized, no FP32 reference)'), hint: 'Open the base model it was made from.' },
  { offset: 4, magic: 'TFL3', code: 'E-FILE-08', message: is('a TFLite graph'), hint: NO_BACKWARD },
  { offset: 0, magic: '\x08', code: 'E-FILE-08', message: is('an ONNX graph or another protocol buffer'), hint: NO_BACKWARD },
  { offset: 0, magic: '\x89HDF', code: 'E-FILE-08', message: is('an HDF5 file'), hint: NEED },
  { offset: 0, magic: '\x93NUMPY', code: 'E-FILE-08', message: is('a NumPy array'), hint: NEED },
  { offset: 0, magic: '\x1f\x8b', code: 'E-FILE-08', message: is('compressed with gzip'), hint: 'Unpack it first.' },
  { offset: 0, magic: '<!', code: 'E-FILE-08', message: is('a web page'), hint: 'Use the download link of the file, not the page that shows it.' },
  { offset: 0, magic: '<html', code: 'E-FILE-08', message: is('a web page'), hint: 'Use the download link of the file, not the page that shows it.' },
  { offset: 0, magic: '{', code: 'E-FILE-08', message: is('JSON text'), hint: 'config.json and tokenizer.json have their own place; the weights are model.safetensors.' },
];

/**
 * Throws E-FILE-01, E-FILE-04 or E-FILE-08 when the first bytes are another format's; returns when they are nothing known.
 * To be asked only when byte 8 is not `{`: a header length may begin with any of these bytes.
 */
export function refuseForeignFile(bytes: Uint8Array, file: string): void {
  // A one-byte magic (protocol buffers) proves nothing in the eight bytes of a short or zeroed length.
  const start = String.fromCharCode(...bytes.subarray(0, 32));
  for (const { offset, magic, code, message, hint } of FOREIGN) {
    if (magic === '\x08' && (bytes.length < 16 || bytes[1] === 0 || bytes[2] === 0)) continue;
    if (start.startsWith(magic, offset)) throw new BendscopeError(code, message(file), hint.replace('FILE', file));
  }
}
