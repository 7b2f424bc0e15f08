import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errors } from '../../src/errors.ts';
import type { Authority } from '../../src/iot/authority.ts';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import { generateDeviceKeys } from '../../src/iot/keys.ts';
import { decideCertificate, decideDevice, type DeviceEvent } from '../../src/iot/lifecycle.ts';
import { openEmbeddedRegistry } from '../../src/iot/registries/embedded.ts';
import type { DeviceRow, LifecycleStore, Sequence } from '../../src/iot/sequences.ts';
import { makeDeviceLifecycle, makeRegistration } from '../../src/iot/sequences.ts';
import { seedRandomTests } from '../support/random.ts';
import { folderStore } from '../support/registry-store.ts';

const EXPERIMENT = '018f3a5e-0000-7000-8000-000000000001';
interface Kept {
  device: DeviceRow;
  sequence: Sequence | null;
}

/** Rows and steps in files; the lock is of this process. */
function fileStore(folder: string): LifecycleStore & { insert(deviceId: string, kept: Kept): void } {
  mkdirSync(folder, { recursive: true });
  const path = (deviceId: string) => join(folder, `${deviceId}.json`);
  const read = (deviceId: string): Kept | null => {
    try {
      return JSON.parse(readFileSync(path(deviceId), 'utf8')) as Kept;
    } catch {
      return null;
    }
  };
  const insert = (deviceId: string, kept: Kept) => {
    writeFileSync(`${path(deviceId)}.new`, JSON.stringify(kept));
    renameSync(`${path(deviceId)}.new`, path(deviceId));
  };
  const queues = new Map<string, Promise<unknown>>();
  return {
    insert,
    load: (deviceId) => Promise.resolve(read(deviceId)),
    async save(deviceId, sequence, row = {}) {
      const kept = read(deviceId);
      if (!kept) throw errors.resourceNotFound('device');
      insert(deviceId, { device: { ...kept.device, ...row }, sequence });
    },
    remove: (deviceId) => Promise.resolve(rmSync(path(deviceId), { force: true })),
    unfinished: () =>
      Promise.resolve(
        readdirSync(folder)
          .map((file) => file.replace('.json', ''))
          .filter((deviceId) => read(deviceId)?.sequence),
      ),
    bindings: () => Promise.resolve([EXPERIMENT]),
    async lock(deviceId, work) {
      const turn = (queues.get(deviceId) ?? Promise.resolve()).then(work, work);
      queues.set(deviceId, turn);
      return turn;
    },
  };
}

class Crash extends Error {}

/** After so many calls nothing answers any more: the call dies before its effect or after it, and so does every later one. */
function crashing<T extends object>(target: T, clock: { left: number; after: boolean }): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function' || name === 'lock') return value;
      return async (...args: unknown[]) => {
        const dies = clock.left-- <= 0;
        if (dies && (clock.left < -1 || !clock.after)) throw new Crash();
        const answer = await (Reflect.apply(value as () => unknown, object, args) as Promise<unknown>);
        if (dies) throw new Crash();
        return answer;
      };
    },
  });
}

let folder = '';
let authority: Authority;
let csr = '';
let number = 0;
beforeAll(async () => {
  seedRandomTests();
  folder = mkdtempSync(join(tmpdir(), 'fieldlake-sequences-'));
  authority = await openAuthority(await makeAuthority());
  csr = (await generateDeviceKeys()).csr;
});
afterAll(() => rmSync(folder, { recursive: true }));

function open(clock: { left: number; after: boolean } | null = null) {
  const store = fileStore(join(folder, 'rows'));
  const registry = openEmbeddedRegistry({ authority, store: folderStore(join(folder, 'things')), endpoint: 'x' });
  const lifecycle = makeDeviceLifecycle({
    registry: clock ? crashing(registry, clock) : registry,
    store: clock ? crashing(store, clock) : store,
    group: 'managed',
  });
  return { store, registry, lifecycle };
}

function newDevice(sequence: Sequence | null = null): { id: string; thing: string } {
  const id = `device${++number}`;
  const thing = `ambit_${id}`;
  open().store.insert(id, {
    device: { thingName: thing, deviceType: 'ambit', serialNumber: id, state: 'pending', certificateId: null, certificateArn: null },
    sequence,
  });
  return { id, thing };
}

/** Row and registry agree: what the row names is active, and nothing else exists. */
async function agreement(id: string, thing: string) {
  const { store, registry } = open();
  const kept = await store.load(id);
  const certificates = await registry.listCertificates(thing);
  expect(kept?.sequence ?? null).toBeNull();
  expect(certificates.map(({ certificateId, status }) => [certificateId, status])).toEqual(
    kept?.device.certificateId ? [[kept.device.certificateId, 'active']] : [],
  );
  if (kept) expect(kept.device.certificateId !== null).toBe(kept.device.state === 'active');
  return kept?.device.state ?? 'gone';
}

describe('what a state allows', () => {
  test('every certificate event repeated leaves it where it was, and nothing wakes the revoked', () => {
    for (const state of ['inactive', 'active'] as const)
      for (const event of ['activate', 'deactivate', 'revoke'] as const) {
        const after = decideCertificate(state, event);
        if (after !== 'revoked' || event === 'revoke') expect(decideCertificate(after, event)).toBe(after);
      }
    for (const event of ['activate', 'deactivate', 'revoke'] as const)
      expect(() => decideCertificate('absent', event)).toThrow(expect.objectContaining({ code: 'CERTIFICATE_NOT_FOUND' }));
    expect(decideCertificate('active', 'activate')).toBe('active');
    expect(() => decideCertificate('revoked', 'activate')).toThrow(expect.objectContaining({ code: 'DEVICE_STATE_REFUSED' }));
    expect(() => decideCertificate('revoked', 'deactivate')).toThrow(expect.objectContaining({ code: 'DEVICE_STATE_REFUSED' }));
    expect(decideCertificate('revoked', 'revoke')).toBe('revoked');
    for (const state of ['absent', 'inactive', 'active', 'revoked'] as const) expect(decideCertificate(state, 'delete')).toBe('absent');
  });

  test('a device gets a certificate only where it has none', () => {
    for (const state of ['active', 'rotating', 'phone'] as const)
      expect(() => decideDevice(state, 'issue')).toThrow(expect.objectContaining({ code: 'DEVICE_STATE_REFUSED' }));
    for (const state of ['pending', 'revoked'] as const) expect(decideDevice(state, 'issue')).toBe('issue');
    for (const state of ['pending', 'active', 'rotating', 'revoked', 'phone'] as const)
      expect(decideDevice(state, 'delete')).toBe('delete');
    expect(decideDevice('phone', 'rebind')).toBeNull();
    expect(decideDevice('active', 'onboard')).toBeNull();
  });
});

describe('sequences', () => {
  test('the whole life: register, issue, rotate with overlap, revoke, issue again, delete', async () => {
    const { id, thing } = newDevice(makeRegistration());
    const { lifecycle, registry } = open();
    await lifecycle.register(id);
    expect(await agreement(id, thing)).toBe('pending');
    const issued = await lifecycle.issue(id);
    expect(issued.privateKey).toContain('PRIVATE KEY');
    expect(await agreement(id, thing)).toBe('active');
    const { bundle, retire } = await lifecycle.rotate(id, csr);
    expect(bundle.privateKey).toBeNull();
    expect((await registry.listCertificates(thing)).map(({ certificateId, status }) => [certificateId, status])).toEqual([
      [issued.certificateId, 'active'],
      [bundle.certificateId, 'active'],
    ]);
    await retire();
    await retire();
    expect(await agreement(id, thing)).toBe('active');
    await lifecycle.revoke(id);
    expect(await agreement(id, thing)).toBe('revoked');
    await lifecycle.issue(id);
    await lifecycle.remove(id);
    await lifecycle.remove(id);
    expect(await agreement(id, thing)).toBe('gone');
  });

  test('what the table refuses says why and changes nothing', async () => {
    const { id, thing } = newDevice();
    const { lifecycle } = open();
    await expect(lifecycle.rotate(id)).rejects.toThrow(/pending and holds no certificate/);
    await expect(lifecycle.revoke(id)).rejects.toThrow(/pending/);
    await lifecycle.issue(id, csr);
    await expect(lifecycle.issue(id)).rejects.toThrow(/rotate or revoke it first/);
    expect(await agreement(id, thing)).toBe('active');
  });

  test('a request that cannot be signed leaves the device as it was', async () => {
    const { id, thing } = newDevice();
    await expect(open().lifecycle.issue(id, 'nonsense')).rejects.toThrow(/signing request/);
    expect(await agreement(id, thing)).toBe('pending');
  });

  test('of parallel issues and rotations one wins, and one certificate lives', async () => {
    const { id, thing } = newDevice();
    const { lifecycle } = open();
    const issues = await Promise.allSettled(Array.from({ length: 8 }, async () => lifecycle.issue(id, csr)));
    expect(issues.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const rotations = await Promise.allSettled(Array.from({ length: 4 }, async () => (await lifecycle.rotate(id, csr)).retire()));
    expect(rotations.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
    expect(await agreement(id, thing)).toBe('active');
  });

  const acts: [
    name: string,
    prepare: readonly ('issue' | 'rotate')[],
    act: (life: ReturnType<typeof open>['lifecycle'], id: string) => Promise<unknown>,
    ends: readonly string[],
  ][] = [
    ['register', [], async (life, id) => life.register(id), ['pending']],
    ['issue', [], async (life, id) => life.issue(id, csr), ['pending', 'active']],
    ['rotate', ['issue'], async (life, id) => (await life.rotate(id, csr)).retire(), ['active']],
    ['rotate without retire', ['issue'], async (life, id) => life.rotate(id, csr), ['active']],
    ['revoke', ['issue'], async (life, id) => life.revoke(id), ['active', 'revoked']],
    ['delete', ['issue'], async (life, id) => life.remove(id), ['active', 'gone']],
    ['rebind', ['issue'], async (life, id) => life.rebind(id), ['active']],
  ];
  test.each(acts)(
    '%s: killed before and after every single call, row and registry agree once recovered',
    async (name, prepare, act, ends) => {
      let finished = 0;
      let crashes = 0;
      for (let calls = 0; finished < 2; calls++) {
        finished = 0;
        for (const after of [false, true]) {
          const { id, thing } = newDevice(name === 'register' ? makeRegistration() : null);
          for (const step of prepare) await open().lifecycle[step](id, csr);
          const before = (await open().store.load(id))?.device.certificateId;
          const outcome = await act(open({ left: calls, after }).lifecycle, id).catch((cause: unknown) => cause);
          if (outcome instanceof Crash) crashes++;
          else finished++;
          expect(await open().lifecycle.recover()).toEqual([]);
          const state = await agreement(id, thing);
          expect(ends).toContain(state);
          if (!(outcome instanceof Crash)) expect(state).toBe(ends.at(-1));
          const now = (await open().store.load(id))?.device.certificateId;
          if (name.startsWith('rotate') && !(outcome instanceof Crash)) expect(now).not.toBe(before);
          await open().lifecycle.remove(id);
        }
      }
      expect(crashes).toBeGreaterThan(4);
    },
  );

  test('any history of events and crashes ends in agreement', async () => {
    const event = fc.constantFrom<DeviceEvent>('register', 'issue', 'rotate', 'revoke', 'rebind');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(event, fc.integer({ min: 0, max: 30 }), fc.boolean()), { maxLength: 8 }), async (history) => {
        const { id, thing } = newDevice(makeRegistration());
        for (const [what, left, after] of history) {
          const { lifecycle } = open({ left, after });
          if (what === 'onboard' || what === 'delete') continue;
          await lifecycle[what](id, csr).catch(() => null);
        }
        expect(await open().lifecycle.recover()).toEqual([]);
        await agreement(id, thing);
        await open().lifecycle.remove(id);
      }),
      { numRuns: 40 },
    );
  });
});
