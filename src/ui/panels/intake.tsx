/**
 * Files by drop (the whole window) or by choice: a model in any order and in several goes, an allocation, a text. What a
 * model still lacks is shown until it is complete; handles of a drop are taken at once, folders read until empty.
 */
import { createContext, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useActions, useFacts } from '../workbench';
import { EMPTY_INTAKE, kindByName, kindOfJson, modelName, missingFiles, refuseByName, type Intake } from './file-intake';

interface IntakeApi {
  readonly intake: Intake;
  readonly opening: boolean;
  take(files: readonly File[], folder?: string | null): Promise<void>;
  open(): Promise<void>;
  forget(): void;
}

const IntakeContext = createContext<IntakeApi | null>(null);

export function useIntake(): IntakeApi {
  const api = useContext(IntakeContext);
  if (api === null) throw new Error('useIntake: expected an IntakeProvider above, got none');
  return api;
}

interface Collected {
  readonly files: File[];
  readonly folder: string | null;
}

async function readEntry(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: File[] = [];
  // readEntries gives at most 100 at a time: until it gives none.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const inner of some) found.push(...(await readEntry(inner)));
  }
}

/** Must be called inside the drop event: afterwards the handles are gone. */
async function readDrop(transfer: DataTransfer): Promise<Collected> {
  const entries = [...transfer.items].filter((item) => item.kind === 'file').map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const files: File[] = [];
  let folder: string | null = null;
  for (const { entry, file } of entries) {
    if (entry?.isDirectory) folder = entry.name;
    if (entry) files.push(...(await readEntry(entry)));
    else if (file) files.push(file);
  }
  return { files, folder };
}

export function IntakeProvider({ children }: { readonly children: ReactNode }) {
  const actions = useActions();
  const data = useFacts((f) => f.data);
  const running = useFacts((f) => f.run !== null);
  const [intake, setIntake] = useState<Intake>(EMPTY_INTAKE);
  const [opening, setOpening] = useState(false);
  const [dragging, setDragging] = useState(false);

  const api = useMemo((): IntakeApi => {
    const openIntake = async (files: Intake): Promise<void> => {
      if (files.config === null || files.weights === null) return;
      setOpening(true);
      try {
        const weights = await files.weights.arrayBuffer();
        if (await actions.openModel({ kind: 'files', name: modelName(files), config: files.config, weights, tokenizer: files.tokenizer })) {
          actions.tell(`Opened ${modelName(files)}.`);
        }
        // Opened or refused, the files are used up: a refused one must not be taken for part of the next model.
        setIntake(EMPTY_INTAKE);
      } catch (thrown) {
        // A file that is gone or may not be read.
        actions.fault(thrown);
      } finally {
        setOpening(false);
      }
    };
    const takeOne = async (file: File, found: Intake, fromFolder: boolean): Promise<Intake> => {
      const byName = kindByName(file.name);
      const text = byName === 'json' ? await file.text() : '';
      const kind = byName === 'json' ? kindOfJson(file.name, text) : byName;
      switch (kind) {
        case 'weights':
          refuseByName(file.name);
          return { ...found, weights: file };
        case 'config':
          return { ...found, config: text };
        case 'tokenizer':
          return { ...found, tokenizer: text };
        case 'bendscope':
          refuseByName(file.name);
          if (!fromFolder && actions.importAllocation(text, file.name)) actions.tell(`Imported ${file.name}`);
          return found;
        case 'text':
          if (!fromFolder && (await actions.setData({ ...data, source: 'own', text: await file.text() }))) actions.tell(`${file.name} is now the calibration text.`);
          return found;
        case 'other':
          if (fromFolder) return found;
          refuseByName(file.name);
          actions.tell(`${file.name} was not used: drop config.json, model.safetensors and tokenizer.json, an allocation.json, or a .txt text.`);
          return found;
      }
    };
    return {
      intake,
      opening,
      async take(files, folder = null) {
        if (running) return actions.tell('A measurement is running: stop it before opening files.');
        let found: Intake = folder === null ? intake : { ...intake, name: folder };
        for (const file of files) {
          try {
            found = await takeOne(file, found, folder !== null);
          } catch (thrown) {
            actions.fault(thrown);
          }
        }
        setIntake(found);
        if (missingFiles(found).length === 0) await openIntake(found);
      },
      open: () => openIntake(intake),
      forget: () => setIntake(EMPTY_INTAKE),
    };
  }, [actions, data, intake, opening, running]);

  const latest = useRef(api);
  useEffect(() => {
    latest.current = api;
  }, [api]);
  useEffect(() => {
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    let depth = 0;
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth += 1;
      setDragging(true);
    };
    const over = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    const leave = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setDragging(false);
    };
    const drop = (event: DragEvent): void => {
      depth = 0;
      setDragging(false);
      if (!event.dataTransfer || !hasFiles(event)) return;
      event.preventDefault();
      readDrop(event.dataTransfer).then(({ files, folder }) => latest.current.take(files, folder)).catch((thrown: unknown) => actions.fault(thrown));
    };
    window.addEventListener('dragenter', enter);
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragenter', enter);
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, [actions]);

  return (
    <IntakeContext value={api}>
      {children}
      {dragging ? <div className="drop-veil"><p>Drop a model (config.json, model.safetensors, tokenizer.json or their folder), an allocation.json, or a .txt text</p></div> : null}
    </IntakeContext>
  );
}
