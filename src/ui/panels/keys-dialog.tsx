/** Keys, and the words of the page. Single keys can be turned off (WCAG 2.1.4). */
import { useView, useWorkbench } from '../workbench';
import { Modal } from './modal';

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['Anywhere', [['Ctrl+Z', 'undo'], ['Shift+Ctrl+Z, Ctrl+Y', 'redo'], ['?', 'this help'], ['Esc', 'cancel a drag, then close']]],
  ['Grid: move and select', [['arrows', 'one cell'], ['Home, End', 'ends of the row'], ['Ctrl+Home, Ctrl+End', 'corners'], ['PageUp, PageDown', 'one op group'], ['Shift+arrows', 'extend'], ['Shift+Space', 'row'], ['Ctrl+Space', 'layer'], ['Ctrl+A', 'all cells'], ['Shift+F10', 'menu']]],
  ['Grid: act on the selection', [['4, 8', 'the plan’s low format of so many bits'], ['B', 'BF16'], ['L', 'lock, unlock'], ['[ and ]', 'cheaper, dearer by one format'], ['Enter', 'inspector'], ['N', 'next by rank'], ['.', 'next unstable cell'], ['R', 'measure a failed cell again']]],
  ['Grid: plans', [['V', 'verify the plan jointly'], ['P', 'pin the plan as A'], ['M, then 1 to 9', 'save it under that key'], ['G, then 1 to 9', 'recall the plan of that key']]],
  ['Budget handles', [['arrows', 'one flip'], ['PageUp, PageDown', 'five flips'], ['Home, End', 'limits'], ['F2', 'type how much a row or layer may bend'], ['arrows across', 'next row or layer'], ['Enter', 'commit'], ['Esc', 'revert']]],
];
const WORDS: readonly (readonly [string, string])[] = [
  ['Bending', 'angle, in degrees, between the gradient with a site in the recipe’s format and the BF16 gradient, over all parameters'],
  ['Raw, clean', 'as measured; with the noise floor taken out (squared tangents subtract)'],
  ['Noise floor', 'what flipping one BF16 ulp already does to the gradient'],
  ['Pass, output', 'forward (fp) y = x w, input gradient (dg) dx = dy wᵀ, weight gradient (wg) dw = xᵀ dy; an op group’s output: the value its readers and the backward pass use, and the gradient that arrives at it'],
  ['Predicted, measured, gap', 'squared tangents of the clean angles added, the floor once; the whole plan measured at once; their difference'],
  ['A', 'the plan that the current one is held against, cell by cell'],
  ['Unstable', 'solved 100 times with every clean angle shifted by its noise, the cell gets another format at least 5 times'],
  ['HP GEMM work', 'share of multiply-adds of the block linears that the plan keeps in BF16'],
  ['HP activation cache', 'bytes of the outputs that the backward pass keeps and the plan keeps in BF16; also over those of the fixed policy (embedding, head, every norm in BF16)'],
  ['Effective bits', 'mean of the stored bits: of both operands, by work; of kept outputs, by bytes'],
  ['Left out', 'everything low except one cell; what goes away is the difference in squared tangents to everything low'],
  ['What persists', 'the part of a shift that batches, or draws of random rounding, share: it does not average out over training'],
];

export default function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const { view } = useWorkbench();
  const singleKeys = useView((v) => v.singleKeys);
  return (
    <Modal title="Keys and words" onClose={onClose}>
      <div className="keys">
        {KEYS.map(([name, keys]) => (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <dl className="pairs">{keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl>
          </section>
        ))}
      </div>
      <label className="check"><input type="checkbox" checked={singleKeys} onChange={(event) => view.setState({ singleKeys: event.target.checked })} />Single keys act (4, 8, B, L, P, ? and the others without Ctrl)</label>
      <section aria-label="Words">
        <h3>Words</h3>
        <dl className="words">{WORDS.map(([word, means]) => <div key={word}><dt>{word}</dt><dd>{means}</dd></div>)}</dl>
      </section>
      <p className="muted small">On a Mac, Cmd stands for Ctrl.</p>
    </Modal>
  );
}
