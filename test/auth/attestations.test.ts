import 'reflect-metadata';
import { createHash, createPublicKey, createSign, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { Authenticator } from '../support/authenticator.ts';
import { signIn } from '../support/browser.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestServer } from '../support/server.ts';

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const ANDROID_KEY_DESCRIPTION = '1.3.6.1.4.1.11129.2.1.17';

const text = (value: string) => Buffer.concat([Buffer.from([0x60 + value.length]), Buffer.from(value)]);
const bytes = (value: Buffer) => Buffer.concat([Buffer.from([0x59, value.length >> 8, value.length & 255]), value]);

/** What Android says of a key that was made for this client data, in DER; all of it but the challenge is empty. */
const describeKey = (challenge: Buffer) => {
  const fields = [
    Buffer.from('0201030a01000201040a0100', 'hex'),
    Buffer.from([4, challenge.length]),
    challenge,
    Buffer.from('040030003000', 'hex'),
  ];
  const content = Buffer.concat(fields);
  return Buffer.concat([Buffer.from([0x30, content.length]), content]);
};

type Created = ReturnType<Authenticator['create']>;

/** Says of a new passkey that Android made it, by a root of one's own. Its certificate names an address where those that were revoked would be listed. */
async function attest({ credential }: Authenticator, created: Created, address: string): Promise<Created> {
  const root = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  const der = createPublicKey(credential!.key).export({ type: 'spki', format: 'der' });
  const leafKey = await webcrypto.subtle.importKey('spki', der, EC, true, ['verify']);
  const hash = createHash('sha256').update(Buffer.from(created.response.clientDataJSON, 'base64url')).digest();
  const anchor = await x509.X509CertificateGenerator.createSelfSigned({ name: 'CN=root', keys: root, signingAlgorithm: EC });
  const leaf = await x509.X509CertificateGenerator.create({
    subject: 'CN=leaf',
    issuer: anchor.subject,
    publicKey: leafKey,
    signingKey: root.privateKey,
    signingAlgorithm: EC,
    extensions: [new x509.Extension(ANDROID_KEY_DESCRIPTION, false, describeKey(hash)), new x509.CRLDistributionPointsExtension([address])],
  });
  const plain = Buffer.from(created.response.attestationObject, 'base64url');
  const authenticatorData = plain.subarray(plain.indexOf('authData') - 1);
  const signature = createSign('sha256').update(authenticatorData.subarray(11)).update(hash).sign(credential!.key);
  const attestationObject = Buffer.concat([
    ...[Buffer.from([0xa3]), text('fmt'), text('android-key'), text('attStmt'), Buffer.from([0xa3]), text('alg'), Buffer.from([0x26])],
    ...[
      text('sig'),
      bytes(signature),
      text('x5c'),
      Buffer.from([0x82]),
      bytes(Buffer.from(leaf.rawData)),
      bytes(Buffer.from(anchor.rawData)),
    ],
    authenticatorData,
  ]);
  return { ...created, response: { ...created.response, attestationObject: attestationObject.toString('base64url') } };
}

test('no address is called that the certificates of a new passkey name', async () => {
  const site = await startTestServer({});
  const receiver = await startReceiver();
  const mine = await signIn(site, 'attested@example.com');
  const authenticator = new Authenticator(site.server.baseUrl.replace('127.0.0.1', 'localhost'));
  const { body: options } = await mine.call('GET', '/api/v1/auth/passkey/generate-register-options');
  const response = await attest(authenticator, authenticator.create(options), receiver.url);
  const answer = await mine.call('POST', '/api/v1/auth/passkey/verify-registration', { response });
  expect(receiver.heard).toEqual([]);
  // what it says of its maker was not asked for, and nothing depends on it
  expect(answer.status).toBe(200);
  await receiver.stop();
  await site.stop();
});
