/** The clipboard, which pages without a secure address do not have, whatever the types say, and which a browser may refuse. */
import { BendscopeError } from '../../base/errors';

/** Throws E-CLIP-01 where the browser gives no clipboard or does not let the page write to it. */
export async function copyText(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  try {
    if (clipboard === undefined) throw new Error('this page has none');
    await clipboard.writeText(text);
  } catch (thrown) {
    throw new BendscopeError('E-CLIP-01', `Nothing was copied: the browser refused the clipboard (${thrown instanceof Error ? thrown.message : String(thrown)}).`, 'Select the text and copy it by hand, or open the page over https or from localhost.');
  }
}
