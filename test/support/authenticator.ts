import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest();

/** How an answer deviates from an honest one. */
export interface Deviation {
  origin?: string;
  rpId?: string;
  userVerified?: boolean;
  challenge?: string;
  /** Counter to send instead of the next one. */
  counter?: number;
  /** Signs with a key of its own. */
  forged?: boolean;
  type?: string;
  /** Registers the id of the credential that it holds anew. */
  sameId?: boolean;
}

const bytesHead = (length: number) => (length < 256 ? Buffer.from([0x58, length]) : Buffer.from([0x59, length >> 8, length & 255]));
const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);

/** An authenticator in software: ES256, discoverable credentials, no attestation. Honest unless told otherwise. */
export class Authenticator {
  readonly origin: string;
  credential: { id: Buffer; key: KeyObject; cose: Buffer; userHandle: string; counter: number } | undefined;

  constructor(origin: string) {
    this.origin = origin;
  }

  private clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: deviation.type ?? type,
        challenge: deviation.challenge ?? challenge,
        origin: deviation.origin ?? this.origin,
        crossOrigin: false,
      }),
    );
  }

  private data(rpId: string, counter: number, deviation: Deviation, attested = Buffer.alloc(0)): Buffer {
    const flags = 1 | (deviation.userVerified === false ? 0 : 4) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(deviation.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  }

  /** `navigator.credentials.create`, as JSON. */
  create(options: any, deviation: Deviation = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string };
    const cose = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
    const id = deviation.sameId === true && this.credential ? this.credential.id : randomBytes(32);
    this.credential = { id, key: privateKey, cose, userHandle: options.user.id as string, counter: 1 };
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose]);
    const data = this.data(options.rp.id as string, 1, deviation, attested);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      bytesHead(data.length),
      data,
    ]);
    return {
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      response: {
        clientDataJSON: this.clientData('webauthn.create', options.challenge as string, deviation).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  /** `navigator.credentials.get`, as JSON. */
  get(options: any, deviation: Deviation = {}) {
    if (!this.credential) throw new Error('this authenticator is empty');
    const { id, key, userHandle } = this.credential;
    const counter = deviation.counter ?? (this.credential.counter += 1);
    const client = this.clientData('webauthn.get', options.challenge as string, deviation);
    const data = this.data(options.rpId as string, counter, deviation);
    const signer = deviation.forged === true ? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey : key;
    return {
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), signer).toString('base64url'),
        userHandle,
      },
    };
  }
}
