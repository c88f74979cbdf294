/**
 * What dropped and chosen files lead to: a model collected until it is complete, an allocation, a text. Of two drops in
 * quick succession the later one counts: whatever of the earlier one is still being read is let go of, and nothing of it is
 * shown. Files are read first and used afterwards, all in one go.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Actions, FactsState } from '../../state';
import { EMPTY_INTAKE, kindByName, kindOfJson, missingFiles, modelName, refuseByName, type FileKind, type Intake } from './file-intake';

/** Files of one drop or choice, and the folder they came in. */
export interface Collected {
  readonly files: readonly File[];
  readonly folder: string | null;
}

export interface IntakeState {
  readonly intake: Intake;
  /** The model that is being opened; its files are used up. */
  readonly opening: Intake | null;
}

export interface IntakeQueue {
  readonly store: Pick<StoreApi<IntakeState>, 'getState' | 'subscribe' | 'getInitialState'>;
  /** `collect` is called at once, for the handles of a drop do not outlive its event; a folder takes longer, and a later take lets go of it. */
  take(collect: () => Collected | Promise<Collected>): Promise<void>;
  /** Opens what is there, without a tokenizer. */
  open(): Promise<void>;
  forget(): void;
}

interface IntakeHost {
  readonly actions: Pick<Actions, 'openModel' | 'importAllocation' | 'setData' | 'tell' | 'fault'>;
  readonly facts: { getState(): Pick<FactsState, 'data' | 'run'> };
}

/** A file with what it is; `text` of those that are text. */
interface ReadFile {
  readonly file: File;
  readonly kind: FileKind;
  readonly text: string;
}

async function readFile(file: File): Promise<ReadFile> {
  const byName = kindByName(file.name);
  if (byName === 'json') {
    const text = await file.text();
    return { file, kind: kindOfJson(file.name, text), text };
  }
  return { file, kind: byName, text: byName === 'text' ? await file.text() : '' };
}

export function createIntakeQueue({ actions, facts }: IntakeHost): IntakeQueue {
  const store = createStore<IntakeState>()(() => ({ intake: EMPTY_INTAKE, opening: null }));
  let takes = 0;
  let openings = 0;

  const openIntake = async (files: Intake): Promise<void> => {
    if (files.config === null || files.weights === null) return;
    const turn = ++openings;
    const isNewest = (): boolean => turn === openings;
    // Opened or refused, the files are used up: a refused one must not be taken for part of the next model.
    store.setState({ intake: EMPTY_INTAKE, opening: files });
    try {
      const weights = await files.weights.arrayBuffer();
      if (!isNewest()) return;
      const isOpen = await actions.openModel({ kind: 'files', name: modelName(files), config: files.config, weights, tokenizer: files.tokenizer });
      if (isOpen && isNewest()) actions.tell(`Opened ${modelName(files)}.`);
    } catch (thrown) {
      // A file that is gone or may not be read.
      if (isNewest()) actions.fault(thrown);
    } finally {
      if (isNewest()) store.setState({ opening: null });
    }
  };

  /** The files of a folder that make no model are passed over without a word. */
  const accept = ({ file, kind, text }: ReadFile, found: Intake, isFolder: boolean): Intake => {
    if (kind === 'weights' || kind === 'bendscope' || (kind === 'other' && !isFolder)) refuseByName(file.name);
    switch (kind) {
      case 'weights':
        return { ...found, weights: file };
      case 'config':
        return { ...found, config: text };
      case 'tokenizer':
        return { ...found, tokenizer: text };
      case 'bendscope':
        if (!isFolder && actions.importAllocation(text, file.name)) actions.tell(`Imported ${file.name}`);
        return found;
      case 'text':
        return found;
      case 'other':
        if (!isFolder) actions.tell(`${file.name} was not used: drop config.json, model.safetensors and tokenizer.json, an allocation.json, or a .txt text.`);
        return found;
    }
  };

  return {
    store,
    async take(collect) {
      if (facts.getState().run !== null) return actions.tell('A measurement is running: stop it before opening files.');
      const turn = ++takes;
      const isNewest = (): boolean => turn === takes;
      const read: ReadFile[] = [];
      const faults: unknown[] = [];
      let folder: string | null = null;
      try {
        const collected = await collect();
        ({ folder } = collected);
        for (const file of collected.files) {
          if (!isNewest()) return;
          try {
            read.push(await readFile(file));
          } catch (thrown) {
            faults.push(thrown);
          }
        }
      } catch (thrown) {
        faults.push(thrown);
      }
      if (!isNewest()) return;
      const isFolder = folder !== null;
      const { intake } = store.getState();
      let found: Intake = folder === null ? intake : { ...intake, name: folder };
      for (const one of read) {
        try {
          found = accept(one, found, isFolder);
        } catch (thrown) {
          faults.push(thrown);
        }
      }
      faults.forEach((thrown) => actions.fault(thrown));
      const text = isFolder ? undefined : read.findLast(({ kind }) => kind === 'text');
      const isTaken = text !== undefined && (await actions.setData({ ...facts.getState().data, source: 'own', text: text.text }));
      if (!isNewest()) return;
      if (isTaken) actions.tell(`${text.file.name} is now the calibration text.`);
      store.setState({ intake: found });
      if (missingFiles(found).length === 0) await openIntake(found);
    },
    open: () => openIntake(store.getState().intake),
    forget() {
      takes += 1;
      store.setState({ intake: EMPTY_INTAKE });
    },
  };
}
