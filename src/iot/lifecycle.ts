/** The life of a certificate and of a device as total tables: every state answers every event. Pure. */
import { errors } from '../errors.ts';
import type { CertificateStatus } from './registry.ts';

export type CertificateState = 'absent' | CertificateStatus;
export type CertificateEvent = 'activate' | 'deactivate' | 'revoke' | 'delete';
export type CertificateOutcome = { to: CertificateState } | { refused: 'unknown' | 'revoked' };

/** A revoked certificate never lives again; deleting is always allowed. */
export const certificateLife: Record<CertificateState, Record<CertificateEvent, CertificateOutcome>> = {
  absent: {
    activate: { refused: 'unknown' },
    deactivate: { refused: 'unknown' },
    revoke: { refused: 'unknown' },
    delete: { to: 'absent' },
  },
  inactive: { activate: { to: 'active' }, deactivate: { to: 'inactive' }, revoke: { to: 'revoked' }, delete: { to: 'absent' } },
  active: { activate: { to: 'active' }, deactivate: { to: 'inactive' }, revoke: { to: 'revoked' }, delete: { to: 'absent' } },
  revoked: { activate: { refused: 'revoked' }, deactivate: { refused: 'revoked' }, revoke: { to: 'revoked' }, delete: { to: 'absent' } },
};

/** Decides what a certificate is after an event of its life. Errors: certificateNotFound, deviceStateRefused. */
export function decideCertificate(state: CertificateState, event: CertificateEvent): CertificateState {
  const outcome = certificateLife[state][event];
  if ('to' in outcome) return outcome.to;
  throw outcome.refused === 'unknown' ? errors.certificateNotFound() : errors.deviceStateRefused('A revoked certificate stays revoked.');
}

/** `phone` is a mobile install: active without ever holding a certificate. The other states are what the API shows. */
export type DeviceState = 'pending' | 'active' | 'rotating' | 'revoked' | 'phone';
export type DeviceEvent = 'register' | 'issue' | 'rotate' | 'revoke' | 'rebind' | 'onboard' | 'delete';
/** `register` may be repeated: the row is there, provisioning goes on. */
export type DeviceOutcome = { sequence: DeviceOperation; to: DeviceState | 'gone' } | { allowed: true } | { refused: string };

/** Operations that change both the registry and the row, step by step. */
export type DeviceOperation = 'register' | 'issue' | 'rotate' | 'revoke' | 'rebind' | 'delete';

const refuse = (refused: string) => ({ refused });
const hasOne = (state: string) => refuse(`This device is ${state} and holds a certificate; rotate or revoke it first.`);
const hasNone = (state: string) => refuse(`This device is ${state} and holds no certificate.`);
const phone = refuse('A phone signs in as a person and holds no certificate.');
const notActive = (state: string) => refuse(`Only an active device can be onboarded; this one is ${state}.`);

/** While a device is `rotating`, it cannot be issued a certificate, rotated or onboarded. Revoking and deleting end every certificate. */
export const deviceLife: Record<DeviceState, Record<DeviceEvent, DeviceOutcome>> = {
  pending: {
    register: { sequence: 'register', to: 'pending' },
    issue: { sequence: 'issue', to: 'active' },
    rotate: hasNone('pending'),
    revoke: hasNone('pending'),
    rebind: { sequence: 'rebind', to: 'pending' },
    onboard: notActive('pending'),
    delete: { sequence: 'delete', to: 'gone' },
  },
  active: {
    register: { sequence: 'register', to: 'active' },
    issue: hasOne('active'),
    rotate: { sequence: 'rotate', to: 'active' },
    revoke: { sequence: 'revoke', to: 'revoked' },
    rebind: { sequence: 'rebind', to: 'active' },
    onboard: { allowed: true },
    delete: { sequence: 'delete', to: 'gone' },
  },
  rotating: {
    register: { sequence: 'register', to: 'rotating' },
    issue: hasOne('rotating'),
    rotate: refuse('This device is being rotated already.'),
    revoke: { sequence: 'revoke', to: 'revoked' },
    rebind: { sequence: 'rebind', to: 'rotating' },
    onboard: notActive('rotating'),
    delete: { sequence: 'delete', to: 'gone' },
  },
  revoked: {
    register: { sequence: 'register', to: 'revoked' },
    issue: { sequence: 'issue', to: 'active' },
    rotate: hasNone('revoked'),
    revoke: hasNone('revoked'),
    rebind: { sequence: 'rebind', to: 'revoked' },
    onboard: notActive('revoked'),
    delete: { sequence: 'delete', to: 'gone' },
  },
  phone: {
    register: { sequence: 'register', to: 'phone' },
    issue: phone,
    rotate: phone,
    revoke: phone,
    rebind: { allowed: true },
    onboard: refuse('A phone is not onboarded; it publishes with its owner’s temporary credentials.'),
    delete: { sequence: 'delete', to: 'gone' },
  },
};
