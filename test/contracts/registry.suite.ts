import { randomUUID, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateDeviceKeys } from '../../src/iot/keys.ts';
import { makeDevicePolicies } from '../../src/iot/policy.ts';
import type { DeviceRegistry } from '../../src/iot/registry.ts';
import { nameThing } from '../../src/iot/things.ts';

export interface OpenedRegistry {
  registry: DeviceRegistry;
  close(): Promise<void> | void;
  /** Policy names a certificate carries, asked of the service itself; only where there is something to ask. */
  attached?(certificateArn: string): Promise<{ name: string; document: string }[]>;
}

const code = (wanted: string) => expect.objectContaining({ code: wanted }) as unknown;

/** What every device registry must do; each test with a thing of its own. */
export function registryContract(name: string, open: () => Promise<OpenedRegistry>): void {
  describe(`the ${name} registry`, () => {
    let opened: OpenedRegistry;
    let registry: DeviceRegistry;
    let csr = '';
    beforeAll(async () => {
      opened = await open();
      registry = opened.registry;
      csr = (await generateDeviceKeys()).csr;
    });
    afterAll(async () => opened.close());

    const newThing = async () => {
      const serialNumber = `E8:F6:${randomUUID()}`;
      const thing = { thingName: nameThing('multispeq', serialNumber), deviceType: 'multispeq', serialNumber };
      await registry.createThing(thing);
      return thing;
    };
    const statuses = async (thing: string) => (await registry.listCertificates(thing)).map(({ status }) => status);

    test('things: created once, the same again; another serial under the name is a conflict', async () => {
      const thing = await newThing();
      await registry.createThing(thing);
      await expect(registry.createThing({ ...thing, serialNumber: 'other' })).rejects.toThrow(code('REGISTRY_CONFLICT'));
    });

    test('groups: joining twice is once; an unknown thing is refused', async () => {
      const thing = await newThing();
      const group = `group-${randomUUID()}`;
      for (let times = 0; times < 2; times++) await registry.addToGroup(thing.thingName, group);
      await expect(registry.addToGroup(`generic_${randomUUID()}`, group)).rejects.toThrow(code('THING_NOT_FOUND'));
    });

    test('a certificate: issued inactive for the key of the request, activated, revoked for good, deleted', async () => {
      const { thingName: thing } = await newThing();
      const keys = await generateDeviceKeys();
      const issued = await registry.issueCertificate(thing, keys.csr);
      expect(issued.certificateId).toMatch(/^[0-9a-f]{64}$/);
      expect(issued.certificateArn).toBe(`${registry.arnPrefix}:cert/${issued.certificateId}`);
      expect(new X509Certificate(issued.certificatePem).subject).toBeTruthy();
      expect(await registry.listCertificates(thing)).toEqual([{ certificateId: issued.certificateId, status: 'inactive' }]);
      for (const [act, status] of [
        ['activateCertificate', 'active'],
        ['revokeCertificate', 'revoked'],
      ] as const) {
        for (let times = 0; times < 2; times++) await registry[act](thing, issued.certificateId);
        expect(await statuses(thing)).toEqual([status]);
      }
      await expect(registry.activateCertificate(thing, issued.certificateId)).rejects.toThrow(code('DEVICE_STATE_REFUSED'));
      for (let times = 0; times < 2; times++) await registry.deleteCertificate(thing, issued.certificateId, 'revoked');
      expect(await statuses(thing)).toEqual([]);
      await expect(registry.activateCertificate(thing, issued.certificateId)).rejects.toThrow(code('CERTIFICATE_NOT_FOUND'));
    });

    test('a signing request must be one, and its thing must exist', async () => {
      const { thingName: thing } = await newThing();
      await registry.issueCertificate(thing, csr);
      await expect(registry.issueCertificate(thing, 'hello')).rejects.toThrow(code('CSR_INVALID'));
      await expect(registry.issueCertificate(`generic_${randomUUID()}`, csr)).rejects.toThrow(code('THING_NOT_FOUND'));
    });

    test('an active certificate is deleted with its policies, and its thing with everything', async () => {
      const { thingName: thing } = await newThing();
      const first = await registry.issueCertificate(thing, csr);
      const second = await registry.issueCertificate(thing, csr);
      expect(second.certificateId).not.toBe(first.certificateId);
      await registry.activateCertificate(thing, first.certificateId);
      await registry.setPolicies(thing, makeDevicePolicies(registry.arnPrefix, 'multispeq', [randomUUID()]));
      await registry.deleteCertificate(thing, first.certificateId, 'rotated');
      expect((await registry.listCertificates(thing)).map(({ certificateId }) => certificateId)).toEqual([second.certificateId]);
      for (let times = 0; times < 2; times++) await registry.deleteThing(thing);
      expect(await registry.listCertificates(thing)).toEqual([]);
      await expect(registry.issueCertificate(thing, csr)).rejects.toThrow(code('THING_NOT_FOUND'));
    });

    test('policies: replaced as a whole, for every certificate of the thing', async () => {
      const { thingName: thing } = await newThing();
      const first = await registry.issueCertificate(thing, csr);
      const bound = Array.from({ length: 60 }, () => randomUUID());
      const many = makeDevicePolicies(registry.arnPrefix, 'multispeq', bound);
      await registry.setPolicies(thing, many);
      const second = await registry.issueCertificate(thing, csr);
      const few = makeDevicePolicies(registry.arnPrefix, 'multispeq', bound.slice(0, 1));
      for (const documents of [many, many, few, many, few]) {
        await registry.setPolicies(thing, documents);
        for (const { certificateArn } of opened.attached ? [first, second] : []) {
          const attached = await opened.attached!(certificateArn);
          expect(attached.map(({ document }) => document).sort()).toEqual(documents.map((document) => JSON.stringify(document)).sort());
        }
      }
      await expect(
        registry.setPolicies(
          thing,
          Array.from({ length: 11 }, () => few[0]!),
        ),
      ).rejects.toThrow(code('REGISTRY_REFUSED'));
      await expect(registry.setPolicies(`generic_${randomUUID()}`, few)).rejects.toThrow(code('THING_NOT_FOUND'));
    });

    test('reading what is not there is empty, and there is an endpoint', async () => {
      expect(await registry.listCertificates(`generic_${randomUUID()}`)).toEqual([]);
      expect(await registry.endpoint()).toMatch(/^[a-z0-9.:-]+$/i);
      expect(await registry.endpoint()).toBe(await registry.endpoint());
      const known = await registry.connectivity([`generic_${randomUUID()}`]);
      expect(known === null || known.size === 0).toBe(true);
    });
  });
}
