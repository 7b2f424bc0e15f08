import { randomUUIDv7 } from 'node:crypto';
import type { AuthenticatorTransport } from '@simplewebauthn/server';
import { z } from 'zod';
import type { Queryable } from '../../database/database.ts';
import type { PasskeyInfo } from './passkeys.model.ts';
import { deletePasskeyRow, insertPasskey, listPasskeys, lockCredential, touchPasskey } from './passkeys.queries.ts';

export { listPasskeys, renamePasskey } from './passkeys.queries.ts';

const loadWebauthn = () => import('@simplewebauthn/server');

const ALGORITHMS = [-8, -7, -257];
const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;
const isTransport = (text: string): text is AuthenticatorTransport => (TRANSPORTS as readonly string[]).includes(text);

/** The domain that passkeys belong to, and the origins where they may be used. */
export interface RelyingParty {
  id: string;
  origins: string[];
}

const base64url = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[A-Za-z0-9_-]*$/);
const credential = { id: base64url(2048).min(1), rawId: base64url(2048), type: z.literal('public-key') };
const Registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_192),
    attestationObject: base64url(65_536),
    transports: z.array(z.string().max(32)).max(16).optional(),
  }),
});
const Authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url(8_192),
    authenticatorData: base64url(8_192),
    signature: base64url(8_192),
    userHandle: base64url(256).nullish(),
  }),
});

/** Options for making a passkey. It must be discoverable and verify its user. Passkeys that the person has already are excluded. */
export async function makeRegistrationOptions(
  db: Queryable,
  party: RelyingParty,
  person: { id: string; name: string },
  attachment?: 'platform' | 'cross-platform',
): Promise<{ challenge: string }> {
  const held = await listPasskeys(db, person.id);
  const { generateRegistrationOptions } = await loadWebauthn();
  return generateRegistrationOptions({
    rpName: 'fieldlake',
    rpID: party.id,
    userID: Buffer.from(person.id),
    userName: person.name,
    userDisplayName: person.name,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: held.map(({ credentialID, transports }) => ({
      id: credentialID,
      transports: transports.split(',').filter(isTransport),
    })),
    authenticatorSelection: {
      residentKey: 'required',
      userVerification: 'required',
      ...(attachment === undefined ? {} : { authenticatorAttachment: attachment }),
    },
  });
}

/**
 * Leaves out what an authenticator says of its maker, which nobody asked it for. To judge that, its certificates would be followed to whatever address they
 * name.
 */
async function dropAttestation(attestationObject: string): Promise<string> {
  const { decodeAttestationObject, isoBase64URL, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const authData = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('authData');
  const none = new Map<string, string | Uint8Array | Map<string, never>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, never>()],
    ['authData', authData],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(none));
}

/** Registers what an authenticator made for a challenge. `invalid`: it does not verify; `taken`: the credential is registered already. */
export async function registerPasskey(
  db: Queryable,
  party: RelyingParty,
  made: { userId: string; name: string | null; challenge: string; response: unknown },
): Promise<PasskeyInfo | 'invalid' | 'taken'> {
  const parsed = Registration.safeParse(made.response);
  if (!parsed.success) return 'invalid';
  const { response } = parsed.data;
  const attestationObject = await dropAttestation(response.attestationObject).catch(() => null);
  if (attestationObject === null) return 'invalid';
  const { verifyRegistrationResponse } = await loadWebauthn();
  const verified = await verifyRegistrationResponse({
    response: { ...parsed.data, response: { ...response, attestationObject }, clientExtensionResults: {} },
    expectedChallenge: made.challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => null);
  if (!verified?.verified) return 'invalid';
  const { credential: key, credentialDeviceType, credentialBackedUp, aaguid } = verified.registrationInfo;
  const inserted = await insertPasskey(db, {
    id: randomUUIDv7(),
    userId: made.userId,
    name: made.name,
    credentialId: key.id,
    publicKey: Buffer.from(key.publicKey),
    counter: key.counter,
    deviceType: credentialDeviceType,
    backedUp: credentialBackedUp,
    transports: (key.transports ?? []).filter(isTransport),
    aaguid,
  });
  return inserted ?? 'taken';
}

/** Options to sign in with any passkey of this relying party. */
export async function makeAuthenticationOptions(party: RelyingParty): Promise<{ challenge: string }> {
  const { generateAuthenticationOptions } = await loadWebauthn();
  return generateAuthenticationOptions({ rpID: party.id, userVerification: 'required', allowCredentials: [] });
}

export type Authenticated = { userId: string; passkeyId: string } | { refused: 'unknown' | 'invalid'; userId?: string };

/** Finds whose passkey answered a challenge. Refuses a passkey whose counter does not move on: it may be a copy. */
export async function authenticatePasskey(
  db: Queryable,
  party: RelyingParty,
  given: { challenge: string; response: unknown },
): Promise<Authenticated> {
  const parsed = Authentication.safeParse(given.response);
  if (!parsed.success) return { refused: 'invalid' };
  const { response } = parsed.data;
  const held = await lockCredential(db, parsed.data.id);
  if (!held) return { refused: 'unknown' };
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const verified = await verifyAuthenticationResponse({
    response: {
      ...parsed.data,
      response: { ...response, userHandle: response.userHandle ?? undefined },
      clientExtensionResults: {},
    },
    expectedChallenge: given.challenge,
    expectedOrigin: party.origins,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: held.credentialId,
      publicKey: new Uint8Array(held.publicKey),
      counter: held.counter,
      transports: held.transports.filter(isTransport),
    },
  }).catch(() => null);
  const namesOther = (response.userHandle ?? '') !== '' && Buffer.from(response.userHandle ?? '', 'base64url').toString() !== held.userId;
  if (!verified?.verified || namesOther) return { refused: 'invalid', userId: held.userId };
  await touchPasskey(db, held.id, verified.authenticationInfo.newCounter, verified.authenticationInfo.credentialBackedUp);
  return { userId: held.userId, passkeyId: held.id };
}

/** Deletes a passkey of a person; sessions begun with it go on. Returns whether there was one. */
export const deletePasskey = async (db: Queryable, userId: string, id: string): Promise<boolean> =>
  (await deletePasskeyRow(db, userId, id)) > 0;
