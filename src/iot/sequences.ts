/**
 * Changes of a device that touch both the registry and its row, as stored steps. After a crash between two steps `recover` undoes a change that has not
 * committed, and finishes one that has. Either way the device has the certificate that its row names, or none.
 */
import { errors } from '../errors.ts';
import { generateDeviceKeys, readSigningRequest } from './keys.ts';
import { decideDevice, type DeviceEvent, type DeviceOperation, type DeviceState } from './lifecycle.ts';
import { makeDevicePolicies } from './policy.ts';
import type { CertificateEnd, DeviceRegistry, IssuedCertificate, NewThing } from './registry.ts';

/** The part of a device's row that these changes read and write. */
export interface DeviceRow extends NewThing {
  state: DeviceState;
  certificateId: string | null;
  certificateArn: string | null;
}

export interface Sequence {
  operation: DeviceOperation;
  /** Index of the step that is to run next. */
  next: number;
  /** The state to go back to when it is undone. */
  from: DeviceState;
  /** The certificate it has made. */
  certificate: { certificateId: string; certificateArn: string } | null;
}

/** Where rows and steps are kept. Each function is one durable transaction. */
export interface LifecycleStore {
  load(deviceId: string): Promise<{ device: DeviceRow; sequence: Sequence | null } | null>;
  /** Stores the sequence (null: none is running), and with it, in the same transaction, what changes in the row. */
  save(
    deviceId: string,
    sequence: Sequence | null,
    row?: Partial<Pick<DeviceRow, 'state' | 'certificateId' | 'certificateArn'>>,
  ): Promise<void>;
  /** Removes the row and its sequence; an unknown device is nothing to do. */
  remove(deviceId: string): Promise<void>;
  /** Devices that have a sequence. */
  unfinished(): Promise<readonly string[]>;
  /** Experiments the device is bound to, now. */
  bindings(deviceId: string): Promise<readonly string[]>;
  /** Runs `work` while nobody else, in any process, runs any for this device. Throws `deviceBusy` when the lock cannot be had in reasonable time. */
  lock<T>(deviceId: string, work: () => Promise<T>): Promise<T>;
}

/** Shown once; the private key is null when the caller sent a signing request. PEM throughout. */
export interface CertificateBundle extends IssuedCertificate {
  publicKey: string;
  privateKey: string | null;
}

type Step =
  'thing' | 'group' | 'create' | 'policies' | 'activate' | 'commit' | 'retireOthers' | 'retireAll' | 'revoked' | 'unregister' | 'forget';

const plans: Record<DeviceOperation, readonly Step[]> = {
  register: ['thing', 'group'],
  issue: ['thing', 'retireOthers', 'create', 'policies', 'activate', 'commit'],
  rotate: ['retireOthers', 'create', 'policies', 'activate', 'commit', 'retireOthers'],
  revoke: ['retireAll', 'revoked'],
  rebind: ['policies'],
  delete: ['retireAll', 'unregister', 'forget'],
};

/** The step from which on an interrupted change is finished; before it, the change is undone. */
const committedAt: Record<DeviceOperation, number> = {
  register: 0,
  issue: plans.issue.indexOf('commit') + 1,
  rotate: plans.rotate.indexOf('commit') + 1,
  revoke: 0,
  rebind: 0,
  delete: 0,
};

interface Run {
  deviceId: string;
  device: DeviceRow;
  sequence: Sequence;
  csr: string | null;
  issued: IssuedCertificate | null;
}

export interface LifecycleOptions {
  registry: DeviceRegistry;
  store: LifecycleStore;
  /** The group that every registered thing joins; none by default. */
  group?: string | null;
}

async function endCertificates(registry: DeviceRegistry, thingName: string, keep: string | null, end: CertificateEnd): Promise<void> {
  for (const { certificateId } of await registry.listCertificates(thingName)) {
    if (certificateId !== keep) await registry.deleteCertificate(thingName, certificateId, end);
  }
}

function makeSteps({ registry, store, group = null }: LifecycleOptions): Record<Step, (run: Run) => Promise<void>> {
  return {
    async thing({ device }) {
      await registry.createThing({ thingName: device.thingName, deviceType: device.deviceType, serialNumber: device.serialNumber });
    },
    group: async ({ device }) => (group === null ? undefined : registry.addToGroup(device.thingName, group)),
    async create(run) {
      run.issued = await registry.issueCertificate(run.device.thingName, run.csr ?? '');
      const { certificateId, certificateArn } = run.issued;
      run.sequence = { ...run.sequence, certificate: { certificateId, certificateArn } };
    },
    policies: async ({ deviceId, device }) =>
      registry.setPolicies(device.thingName, makeDevicePolicies(registry.arnPrefix, device.deviceType, await store.bindings(deviceId))),
    activate: async ({ device, sequence }) => registry.activateCertificate(device.thingName, sequence.certificate?.certificateId ?? ''),
    async commit(run) {
      run.device = { ...run.device, ...run.sequence.certificate, state: 'active' };
    },
    retireOthers: async ({ device }) => endCertificates(registry, device.thingName, device.certificateId, 'rotated'),
    retireAll: async ({ device, sequence }) =>
      endCertificates(registry, device.thingName, null, sequence.operation === 'delete' ? 'removed' : 'revoked'),
    async revoked(run) {
      run.device = { ...run.device, state: 'revoked', certificateId: null, certificateArn: null };
    },
    unregister: async ({ device }) => registry.deleteThing(device.thingName),
    forget: async ({ deviceId }) => store.remove(deviceId),
  };
}

export function makeDeviceLifecycle(options: LifecycleOptions) {
  const { registry, store } = options;
  const steps = makeSteps(options);

  /** Runs the steps up to `until`, storing after each what is done. */
  async function advance(run: Run, until: number): Promise<void> {
    const plan = plans[run.sequence.operation];
    for (let step = plan[run.sequence.next]; step !== undefined && run.sequence.next < until; step = plan[run.sequence.next]) {
      await steps[step](run);
      run.sequence = { ...run.sequence, next: run.sequence.next + 1 };
      if (step === 'forget') return;
      const { state, certificateId, certificateArn } = run.device;
      await store.save(run.deviceId, run.sequence.next === plan.length ? null : run.sequence, { state, certificateId, certificateArn });
    }
  }

  /** Ends an interrupted change; the caller holds the lock. */
  async function settle(deviceId: string): Promise<DeviceRow | null> {
    const found = await store.load(deviceId);
    if (!found?.sequence) return found?.device ?? null;
    const { device, sequence } = found;
    if (sequence.next >= committedAt[sequence.operation]) {
      await advance({ deviceId, device, sequence, csr: null, issued: null }, Infinity);
    } else {
      await endCertificates(registry, device.thingName, device.certificateId, 'removed');
      await store.save(deviceId, null, { state: sequence.from });
    }
    return (await store.load(deviceId))?.device ?? null;
  }

  /** For who holds the lock: ends what was left unfinished, asks what the state allows, then runs the new sequence. A sequence that fails before its commit is undone at once. */
  async function change(deviceId: string, event: DeviceEvent, csr: string | null, until = Infinity): Promise<Run | null> {
    const device = await settle(deviceId);
    if (!device) {
      if (event === 'delete') return null;
      throw errors.resourceNotFound('device');
    }
    const operation = decideDevice(device.state, event);
    if (!operation) return null;
    const sequence: Sequence = { operation, next: 0, from: device.state, certificate: null };
    const run: Run = {
      deviceId,
      device: operation === 'rotate' ? { ...device, state: 'rotating' } : device,
      sequence,
      csr,
      issued: null,
    };
    await store.save(deviceId, sequence, { state: run.device.state });
    try {
      await advance(run, until);
    } catch (cause) {
      if (run.sequence.next < committedAt[operation]) await settle(deviceId).catch(() => null);
      throw cause;
    }
    return run;
  }

  const perform = (deviceId: string, event: DeviceEvent, csr: string | null, until?: number): Promise<Run | null> =>
    store.lock(deviceId, () => change(deviceId, event, csr, until));

  async function certify(deviceId: string, event: 'issue' | 'rotate', csr: string | null): Promise<CertificateBundle> {
    const keys =
      csr === null
        ? await generateDeviceKeys()
        : { csr, privateKey: null, publicKey: (await readSigningRequest(csr)).publicKey.toString('pem') };
    const run = await perform(deviceId, event, keys.csr, committedAt[event]);
    if (!run?.issued) throw errors.conflict();
    return { ...run.issued, publicKey: keys.publicKey, privateKey: keys.privateKey };
  }

  return {
    /** Provisions a reserved row: thing and group. Repeatable. */
    async register(deviceId: string): Promise<void> {
      await perform(deviceId, 'register', null);
    },
    /** Gives a device without a certificate one. Keys come back once, after the row is committed, and are kept nowhere. */
    issue: async (deviceId: string, csr: string | null = null) => certify(deviceId, 'issue', csr),
    /**
     * Makes a second certificate beside the first. `retire` ends the old one, and is to be called when the bundle has been handed over. Otherwise the old one
     * ends at the next change, or at `recover`.
     */
    async rotate(deviceId: string, csr: string | null = null): Promise<{ bundle: CertificateBundle; retire: () => Promise<void> }> {
      const bundle = await certify(deviceId, 'rotate', csr);
      const retireOld = async () => {
        await store.lock(deviceId, async () => settle(deviceId));
      };
      return { bundle, retire: retireOld };
    },
    async revoke(deviceId: string): Promise<void> {
      await perform(deviceId, 'revoke', null);
    },
    /** Applies changed bindings. Call it after every change of them has been committed. */
    async rebind(deviceId: string): Promise<void> {
      await perform(deviceId, 'rebind', null);
    },
    /** Removes certificates, thing and row. Answers whether there is such a device; if so, `begin` is done first, while nobody else changes it. */
    async remove(deviceId: string, begin = async (): Promise<void> => undefined): Promise<boolean> {
      let isThere = false;
      await store.lock(deviceId, async () => {
        isThere = (await store.load(deviceId)) !== null;
        if (!isThere) return;
        await begin();
        await change(deviceId, 'delete', null);
      });
      return isThere;
    },
    /**
     * Ends what the registry holds of a device whose row is gone: certificates and thing. `holder` tells of a device that has been registered anew under
     * the same name; that one keeps the thing, and the certificate that its row names.
     */
    async disown(
      deviceId: string,
      thingName: string,
      holder: () => Promise<{ id: string; certificateId: string | null } | null>,
    ): Promise<void> {
      await store.lock(deviceId, async () => {
        const anew = await holder();
        // under its lock, so that nobody else gives that device a certificate meanwhile
        if (anew)
          return store.lock(anew.id, async () => endCertificates(registry, thingName, (await holder())?.certificateId ?? null, 'removed'));
        await endCertificates(registry, thingName, null, 'removed');
        await registry.deleteThing(thingName);
      });
    },
    /**
     * Ends all interrupted changes; to be called at start, and now and then. A device that cannot be settled now stays for the next time. Answers what failed.
     */
    async recover(): Promise<unknown[]> {
      const failures: unknown[] = [];
      for (const deviceId of await store.unfinished()) {
        try {
          await store.lock(deviceId, async () => settle(deviceId));
        } catch (cause) {
          failures.push(cause);
        }
      }
      return failures;
    },
  };
}

/** The first sequence of a device, to be stored in the transaction that reserves its row. */
export const makeRegistration = (): Sequence => ({ operation: 'register', next: 0, from: 'pending', certificate: null });
