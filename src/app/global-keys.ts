/** The keys that act anywhere (ux.md 3.7). Text fields keep their own undo and every plain character. */
import type { Actions, ViewStore } from '../state';

export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

export type Command = 'undo' | 'redo' | 'keys';

/** What a key means; `typing`: a text field has the focus. */
export function commandOf(press: KeyPress, typing: boolean, singleKeys: boolean): Command | null {
  const key = press.key.toLowerCase();
  if (typing || press.altKey) return null;
  if (press.ctrlKey || press.metaKey) return key === 'z' ? (press.shiftKey ? 'redo' : 'undo') : key === 'y' && !press.shiftKey ? 'redo' : null;
  return key === '?' && singleKeys ? 'keys' : null;
}

const TEXT_INPUTS = ['text', 'search', 'url', 'number', 'email', 'password', 'tel'];

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return TEXT_INPUTS.includes(target.type) && !target.readOnly;
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLElement && target.isContentEditable);
}

export function listenForKeys(actions: Actions, view: ViewStore): void {
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const command = commandOf(event, isTyping(event.target), view.getState().singleKeys);
    if (command === null) return;
    event.preventDefault();
    if (command === 'keys') view.setState({ dialog: 'keys' });
    else actions[command]();
  });
}
