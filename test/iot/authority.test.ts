import 'reflect-metadata';
import { createHash, generateKeyPairSync, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect, test } from 'vitest';
import { makeAuthority, openAuthority } from '../../src/iot/authority.ts';
import { generateDeviceKeys } from '../../src/iot/keys.ts';

test('a new authority is one, and no other', async () => {
  const [root, other] = await Promise.all(
    [0, 1].map(async () => new X509Certificate((await openAuthority(await makeAuthority())).certificatePem)),
  );
  expect([root!.ca, root!.verify(root!.publicKey), root!.verify(other!.publicKey)]).toEqual([true, true, false]);
  await expect(openAuthority('nothing of the kind')).rejects.toThrow('PEM');
});

test('device certificates: for the requested key, signed by the authority, named by their hash, no authority themselves', async () => {
  const authority = await openAuthority(await makeAuthority());
  const root = new X509Certificate(authority.certificatePem);
  const keys = await generateDeviceKeys();
  const { certificateId, certificatePem } = await authority.signDevice(keys.csr);
  const certificate = new X509Certificate(certificatePem);
  expect(certificate.checkIssued(root) && certificate.verify(root.publicKey) && !certificate.ca).toBe(true);
  expect(certificate.publicKey.export({ type: 'spki', format: 'pem' }).trim()).toBe(keys.publicKey.trim());
  expect(certificateId).toBe(createHash('sha256').update(certificate.raw).digest('hex'));
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect((await authority.signDevice(keys.csr)).certificateId).not.toBe(certificateId);
});

test('the broker’s certificate names its hosts', async () => {
  const authority = await openAuthority(await makeAuthority());
  const { certificatePem, expires } = await authority.signServer(['broker.example', '10.1.2.3']);
  const certificate = new X509Certificate(certificatePem);
  expect(
    certificate.checkHost('broker.example') &&
      certificate.checkHost('localhost') &&
      certificate.checkIP('127.0.0.1') &&
      certificate.checkIP('10.1.2.3'),
  ).toBeTruthy();
  expect(certificate.checkHost('other.example')).toBeUndefined();
  expect(Math.abs(new Date(certificate.validTo).getTime() - expires.getTime())).toBeLessThan(2_000);
});

async function request(algorithm: object, hash: string): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(algorithm as EcKeyGenParams, true, ['sign', 'verify']);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({
    name: 'CN=me',
    keys,
    signingAlgorithm: { name: (algorithm as { name: string }).name, hash },
  });
  return csr.toString('pem');
}
type EcKeyGenParams = webcrypto.EcKeyGenParams;
const rsa = (modulusLength: number) => ({
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: 'SHA-256',
});

test('signing requests: RSA from 2048 bits and the three curves are taken, all else is refused with the reason', async () => {
  const authority = await openAuthority(await makeAuthority());
  for (const csr of [await request(rsa(2048), 'SHA-256'), await request({ name: 'ECDSA', namedCurve: 'P-384' }, 'SHA-384')]) {
    expect((await authority.signDevice(csr)).certificateId).toMatch(/^[0-9a-f]{64}$/);
  }
  await expect(authority.signDevice(await request(rsa(1024), 'SHA-256'))).rejects.toThrow(/2048/);
  const { csr } = await generateDeviceKeys();
  const der = new Uint8Array(x509.PemConverter.decode(csr)[0]!);
  der[der.length - 5]! ^= 1;
  await expect(authority.signDevice(x509.PemConverter.encode(der, 'CERTIFICATE REQUEST'))).rejects.toThrow(/signature|PKCS/);
  const { publicKey } = generateKeyPairSync('ed25519');
  for (const text of [
    '',
    'x'.repeat(20_000),
    publicKey.export({ type: 'spki', format: 'pem' }),
    '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----',
  ]) {
    await expect(authority.signDevice(text)).rejects.toThrow(expect.objectContaining({ code: 'CSR_INVALID' }));
  }
});
