import type { Config } from '../../config.ts';
import type { Database } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import type { Authority } from '../../iot/authority.ts';
import { openTokenIssuer, type CredentialIssuer, type TokenIssuer } from '../../iot/credentials.ts';
import { EMBEDDED_ARN_PREFIX, openEmbeddedRegistry } from '../../iot/registries/embedded.ts';
import { MQTT_PORT, type DeviceRegistry } from '../../iot/registry.ts';
import { makeDeviceLifecycle } from '../../iot/sequences.ts';
import { openSharedAuthority } from './authority.service.ts';
import { listToRebind } from './lifecycle.queries.ts';
import { makeLifecycleStore, makeRegistryStore } from './lifecycle.service.ts';

export type DeviceLifecycle = ReturnType<typeof makeDeviceLifecycle>;

/** Everything about devices that is not HTTP. */
export interface DeviceRoom {
  registry: DeviceRegistry;
  lifecycle: DeviceLifecycle;
  /** Issues credentials to people, valid for one hour. */
  credentials: CredentialIssuer;
  /** The embedded authority and tokens; null with AWS IoT. */
  embedded: { authority: Authority; tokens: TokenIssuer } | null;
  /** Writes a device's policies by its current bindings. After a failure `tidy` does so. */
  rebind(deviceId: string): Promise<void>;
  /** Ends interrupted changes that have not moved for so many seconds, and writes the policies of marked devices. */
  tidy(quietSeconds: number): Promise<void>;
  /** The broker that runs in this process. Changes wait until it knows of them, and the endpoint names its port. */
  broker: LocalBroker | null;
  close(): Promise<void>;
}

export interface LocalBroker {
  port: number;
  refresh(thingName: string): Promise<void>;
}

interface RoomOptions {
  config: Config;
  db: Database;
  onProblem: (cause: unknown, what: string) => void;
}

/** Makes a registry whose changes end only when the broker of this process has heard of them. */
const known = (registry: DeviceRegistry, tell: (thingName: string) => Promise<void>): DeviceRegistry => ({
  ...registry,
  setPolicies: (thing, documents) => registry.setPolicies(thing, documents).then(() => tell(thing)),
  revokeCertificate: (thing, id) => registry.revokeCertificate(thing, id).then(() => tell(thing)),
  deleteCertificate: (thing, id, end) => registry.deleteCertificate(thing, id, end).then(() => tell(thing)),
  deleteThing: (thing) => registry.deleteThing(thing).then(() => tell(thing)),
});

/** Opens the registry that is configured: AWS IoT Core, or the embedded one. */
export async function openDeviceRoom({ config, db, onProblem }: RoomOptions): Promise<DeviceRoom> {
  const { aws, hostname, port } = config.iot;
  const closers: (() => void)[] = [];
  let registry: DeviceRegistry;
  let credentials: CredentialIssuer;
  let embedded: DeviceRoom['embedded'] = null;
  const shared: { broker: LocalBroker | null } = { broker: null };
  if (aws) {
    const { region, account, endpoint, roleArn } = aws;
    const { openAwsRegistry } = await import('../../iot/registries/aws.ts');
    const cloud = openAwsRegistry({ region, accountId: account, endpoint });
    closers.push(() => cloud.close());
    registry = cloud;
    if (roleArn === undefined) credentials = { issue: () => Promise.reject(errors.registryMisconfigured()) };
    else {
      const { openStsIssuer } = await import('../../iot/registries/sts.ts');
      const sts = openStsIssuer({ region, endpoint, arnPrefix: cloud.arnPrefix, roleArn });
      closers.push(() => sts.close());
      credentials = sts;
    }
  } else {
    const authority = await openSharedAuthority(db, config);
    const tokens = openTokenIssuer({ key: config.secret, arnPrefix: EMBEDDED_ARN_PREFIX });
    const inner = openEmbeddedRegistry({ authority, store: makeRegistryStore(db), endpoint: hostname });
    // the port is known only when the broker listens
    const endpoint = () => {
      const at = shared.broker?.port ?? port ?? MQTT_PORT;
      return Promise.resolve(at === MQTT_PORT || at === 0 ? hostname : `${hostname}:${at}`);
    };
    registry = { ...known(inner, async (thing) => shared.broker?.refresh(thing)), endpoint };
    credentials = tokens;
    embedded = { authority, tokens };
  }
  const options = { registry, group: aws?.group ?? null };
  const lifecycle = makeDeviceLifecycle({ ...options, store: makeLifecycleStore(db) });
  const rebind = (deviceId: string) =>
    lifecycle.rebind(deviceId).catch((error: unknown) => onProblem(error, 'the policies of a device could not be written yet'));
  return {
    registry,
    lifecycle,
    credentials,
    embedded,
    rebind,
    async tidy(quietSeconds) {
      const failures = await makeDeviceLifecycle({ ...options, store: makeLifecycleStore(db, quietSeconds) }).recover();
      for (const failure of failures) onProblem(failure, 'a change of a device could not be ended yet');
      for (const id of await listToRebind(db)) await rebind(id);
    },
    get broker() {
      return shared.broker;
    },
    set broker(value) {
      shared.broker = value;
    },
    close: () => {
      for (const close of closers) close();
      return Promise.resolve();
    },
  };
}
