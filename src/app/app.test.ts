/** The page's edges: global keys, remembered settings, the stored example's config against the graph of its own checkpoint. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gpt2Graph } from '../models/gpt2';
import { commandOf } from './global-keys';
import { builtInConfig, OTHER_EXAMPLES } from './stored-example';
import { readKept, resolveTheme } from './theme';

const press = (key: string, mods: Partial<Record<'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey', boolean>> = {}) => ({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...mods });

describe('global keys', () => {
  it('undo and redo, on every system', () => {
    expect(commandOf(press('z', { ctrlKey: true }), false, true)).toBe('undo');
    expect(commandOf(press('z', { metaKey: true }), false, false)).toBe('undo');
    expect(commandOf(press('Z', { ctrlKey: true, shiftKey: true }), false, true)).toBe('redo');
    expect(commandOf(press('y', { ctrlKey: true }), false, true)).toBe('redo');
  });
  it('leave text fields and other shortcuts alone', () => {
    expect(commandOf(press('z', { ctrlKey: true }), true, true)).toBeNull();
    expect(commandOf(press('?'), true, true)).toBeNull();
    expect(commandOf(press('z'), false, true)).toBeNull();
    expect(commandOf(press('z', { ctrlKey: true, altKey: true }), false, true)).toBeNull();
  });
  it('? opens the help unless single keys are off', () => {
    expect(commandOf(press('?', { shiftKey: true }), false, true)).toBe('keys');
    expect(commandOf(press('?', { shiftKey: true }), false, false)).toBeNull();
  });
});

describe('remembered settings', () => {
  it('are taken one by one, damaged ones never', () => {
    expect(readKept('{"theme":"dark","palette":"grey","singleKeys":false}')).toEqual({ theme: 'dark', palette: 'grey', singleKeys: false });
    expect(readKept('{"theme":"neon","singleKeys":1,"palette":"viridis"}')).toEqual({ palette: 'viridis' });
    for (const text of [null, '', '{', 'null', '3']) expect(readKept(text)).toEqual({});
  });
  it('a theme of its own beats the system', () => {
    expect([resolveTheme('system', true), resolveTheme('system', false), resolveTheme('light', true), resolveTheme('dark', false)]).toEqual(['dark', 'light', 'light', 'dark']);
  });
});

describe('the stored example', () => {
  const text = readFileSync('public/models/gpt2-mini/config.json', 'utf8');
  it('makes the graph whose parameters the checkpoint holds', () => {
    const bytes = readFileSync('public/models/gpt2-mini/model.safetensors');
    const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE(0))).toString()) as Record<string, { shape?: number[] }>;
    const { params, model } = gpt2Graph(builtInConfig(JSON.parse(text) as Record<string, unknown>, 'gpt2-mini'));
    expect(model).toBe('gpt2-mini');
    expect(params.length).toBeGreaterThan(70);
    for (const { name, shape } of params) expect(header[name]?.shape ?? header[`transformer.${name}`]?.shape, name).toEqual(shape);
  });
  it('has no file beside the page that it does not know', () => {
    const stored = readdirSync('public').filter((name) => /^stored-probe.*\.json$/.test(name));
    expect(['stored-probe.json', ...OTHER_EXAMPLES].sort()).toEqual(stored.sort());
  });
  it('names what a broken build lacks', () => {
    expect(() => builtInConfig({ n_layer: 6 }, 'gpt2-mini')).toThrow('expected a number n_embd');
  });
});
