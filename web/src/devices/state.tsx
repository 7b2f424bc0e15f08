import { agoText, momentText } from '../shell/format.ts';
import { words } from '../words.ts';
import type { DeviceListed } from './queries.ts';

const said = words.devices;

/** Whether a device is connected; null where the registry cannot say. */
export function Connection({ connected }: { connected: boolean | null }) {
  if (connected === null) return <span className="tag">{said.unknown}</span>;
  return <span className={`tag ${connected ? 'good' : ''}`}>{connected ? said.connected : said.away}</span>;
}

/** The state of a device's certificate; nothing for phones, which need none. */
export function CertificateTag({ device: { status, deviceType } }: { device: Pick<DeviceListed, 'status' | 'deviceType'> }) {
  if (deviceType === 'mobile') return null;
  return <span className={`tag ${status === 'active' ? '' : 'warn'}`}>{said.status[status]}</span>;
}

/** When something last happened; a sentence of its own where it never did. */
export function When({ at, says, never }: { at: string | null | undefined; says: (when: string) => string; never: string }) {
  return typeof at === 'string' ? (
    <time dateTime={at} title={momentText(at)}>
      {says(agoText(at))}
    </time>
  ) : (
    <span>{never}</span>
  );
}

/** The name of a device, or its serial number where it has none. */
export const nameOf = ({ name, serialNumber }: Pick<DeviceListed, 'name' | 'serialNumber'>): string => name ?? serialNumber;
