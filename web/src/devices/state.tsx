import { agoText, momentText } from '../shell/format.ts';
import { words } from '../words.ts';
import type { DeviceListed } from './queries.ts';

const said = words.devices;

/** Whether a device is connected, or ever was; null where the registry cannot say. */
export function Connection({ connectivity }: { connectivity: { connected: boolean; lastSeenAt?: string | null } | null }) {
  if (connectivity === null) return <span className="tag">{said.unknown}</span>;
  if (connectivity.connected) return <span className="tag good">{said.connected}</span>;
  return <span className="tag">{connectivity.lastSeenAt === null ? said.neverConnected : said.away}</span>;
}

/** The state of a device's certificate; nothing for phones, which need none. */
export function CertificateTag({ device: { status, deviceType } }: { device: Pick<DeviceListed, 'status' | 'deviceType'> }) {
  if (deviceType === 'mobile') return null;
  return <span className={`tag ${status === 'active' ? '' : 'warn'}`}>{said.status[status]}</span>;
}

interface WhenProps {
  at: string | null | undefined;
  says: (when: string) => string;
  /** What stands where it never did; null for nothing. */
  never: string | null;
}

/** When something last happened. */
export function When({ at, says, never }: WhenProps) {
  if (typeof at !== 'string') return never === null ? null : <span>{never}</span>;
  return (
    <time dateTime={at} title={momentText(at)}>
      {says(agoText(at))}
    </time>
  );
}

/** The name of a device, or its serial number where it has none. */
export const nameOf = ({ name, serialNumber }: Pick<DeviceListed, 'name' | 'serialNumber'>): string => name ?? serialNumber;
