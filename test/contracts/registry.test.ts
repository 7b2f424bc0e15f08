import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import { openEmbeddedRegistry } from '../../src/iot/registries/embedded.ts';
import { folderStore } from '../support/registry-store.ts';
import { registryContract } from './registry.suite.ts';

const openEmbedded = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-registry-'));
  const store = folderStore(join(folder, 'things'));
  const registry = openEmbeddedRegistry({ authority: await openAuthority(await makeAuthority()), store, endpoint: 'localhost:8883' });
  return { registry, store, close: () => rmSync(folder, { recursive: true }) };
};

registryContract('embedded', openEmbedded);

test('the embedded registry says who is connected, and null when it cannot', async () => {
  const { registry, store, close } = await openEmbedded();
  const lastSeenAt = new Date();
  store.see('ambit_1', { connected: true, lastSeenAt });
  expect(await registry.connectivity(['ambit_1', 'ambit_2'])).toEqual(new Map([['ambit_1', { connected: true, lastSeenAt }]]));
  store.presence = () => Promise.reject(new Error('gone'));
  expect(await registry.connectivity(['ambit_1'])).toBeNull();
  close();
});
