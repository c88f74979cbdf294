/**
 * What a reload would silently take away: own files cannot be opened again without the user, so the page says which model
 * was open. Kept for this tab only (sessionStorage); where that is refused, nothing is said.
 */
import type { Workbench } from '../ui/workbench';

const KEY = 'bendscope-own-model';

function session(): Storage | null {
  try {
    return window.sessionStorage;
  } catch {
    return null;
  }
}

/** Says which own model was open before a reload, then remembers the next one. Call after the stored example is open. */
export function rememberOwnModel({ facts, actions }: Workbench): void {
  const storage = session();
  if (!storage) return;
  const before = storage.getItem(KEY);
  storage.removeItem(KEY);
  if (before !== null) actions.tell(`You had ${before} open. Choose its files again to go on: its plan and measured cells are kept.`);
  const builtIn = facts.getState().modelSha256;
  facts.subscribe(({ modelName, modelSha256 }, previous) => {
    if (modelSha256 === previous.modelSha256) return;
    try {
      if (modelSha256 === builtIn) storage.removeItem(KEY);
      else storage.setItem(KEY, modelName);
    } catch {
      // A full storage only costs the reminder.
    }
  });
}
