/** Copying where there is a clipboard, none, or one that refuses. */
import { afterEach, expect, it, vi } from 'vitest';
import { copyText } from './clipboard';

afterEach(() => {
  vi.unstubAllGlobals();
});

it('copies, and says by name when it cannot', async () => {
  const copied: string[] = [];
  vi.stubGlobal('navigator', { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
  await copyText('a,b');
  expect(copied).toEqual(['a,b']);
  vi.stubGlobal('navigator', {});
  await expect(copyText('a,b')).rejects.toMatchObject({ name: 'E-CLIP-01', message: expect.stringContaining('this page has none') as string });
  vi.stubGlobal('navigator', { clipboard: { writeText: () => Promise.reject(new Error('not allowed')) } });
  await expect(copyText('a,b')).rejects.toMatchObject({ name: 'E-CLIP-01', message: expect.stringContaining('not allowed') as string });
});
