/** The life of a certificate and of a device: what each state refuses. Pure. */
import { errors } from '../errors.ts';
import type { CertificateStatus } from './registry.ts';

type CertificateState = 'absent' | CertificateStatus;
export type CertificateEvent = 'activate' | 'deactivate' | 'revoke' | 'delete';

const AFTER: Record<CertificateEvent, CertificateState> = {
  activate: 'active',
  deactivate: 'inactive',
  revoke: 'revoked',
  delete: 'absent',
};

/**
 * Decides what a certificate is after an event of its life. A revoked certificate never lives again; deleting is always allowed. Errors: certificateNotFound,
 * deviceStateRefused.
 */
export function decideCertificate(state: CertificateState, event: CertificateEvent): CertificateState {
  if (event !== 'delete' && state === 'absent') throw errors.certificateNotFound();
  if (state === 'revoked' && (event === 'activate' || event === 'deactivate'))
    throw errors.deviceStateRefused('A revoked certificate stays revoked.');
  return AFTER[event];
}

/** `phone` is a mobile install: active without ever holding a certificate. The other states are what the API shows. */
export type DeviceState = 'pending' | 'active' | 'rotating' | 'revoked' | 'phone';

/** Operations that change both the registry and the row, step by step. */
export type DeviceOperation = 'register' | 'issue' | 'rotate' | 'revoke' | 'rebind' | 'delete';
export type DeviceEvent = DeviceOperation | 'onboard';

const hasOne = (state: string) => `This device is ${state} and holds a certificate; rotate or revoke it first.`;
const hasNone = (state: string) => `This device is ${state} and holds no certificate.`;
const notActive = (state: string) => `Only an active device can be onboarded; this one is ${state}.`;
const PHONE = 'A phone signs in as a person and holds no certificate.';

/** What each state refuses, and why. `register` may be repeated: the row is there, provisioning goes on. Deleting ends every certificate. */
const REFUSED: Record<DeviceState, Partial<Record<DeviceEvent, string>>> = {
  pending: { rotate: hasNone('pending'), revoke: hasNone('pending'), onboard: notActive('pending') },
  active: { issue: hasOne('active') },
  rotating: { issue: hasOne('rotating'), rotate: 'This device is being rotated already.', onboard: notActive('rotating') },
  revoked: { rotate: hasNone('revoked'), revoke: hasNone('revoked'), onboard: notActive('revoked') },
  phone: {
    issue: PHONE,
    rotate: PHONE,
    revoke: PHONE,
    onboard: 'A phone is not onboarded; it publishes with its owner’s temporary credentials.',
  },
};

/** Decides by which operation an event happens to a device; null where nothing has to be done for it. Errors: deviceStateRefused. */
export function decideDevice(state: DeviceState, event: DeviceEvent): DeviceOperation | null {
  const refused = REFUSED[state][event];
  if (refused !== undefined) throw errors.deviceStateRefused(refused);
  return event === 'onboard' || (state === 'phone' && event === 'rebind') ? null : event;
}
