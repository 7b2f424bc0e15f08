/** Keys and signing requests of devices. A private key made here is handed to the caller once and kept nowhere. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { errors } from '../errors.ts';

x509.cryptoProvider.set(webcrypto);

export const EC = { name: 'ECDSA', namedCurve: 'P-256' } as const;
export const SIGNING = { name: 'ECDSA', hash: 'SHA-256' } as const;
const LONGEST_CSR = 16_384;
const curves = new Set(['P-256', 'P-384', 'P-521']);

/** A fresh ECDSA P-256 key pair and a PKCS #10 signing request for it, in PEM. */
export async function generateDeviceKeys() {
  const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  const csr = await x509.Pkcs10CertificateRequestGenerator.create({ name: 'CN=fieldlake device', keys, signingAlgorithm: SIGNING });
  return {
    publicKey: x509.PemConverter.encode(await webcrypto.subtle.exportKey('spki', keys.publicKey), 'PUBLIC KEY'),
    privateKey: x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
    csr: csr.toString('pem'),
  };
}

function parse(csr: string): x509.Pkcs10CertificateRequest {
  try {
    return new x509.Pkcs10CertificateRequest(csr);
  } catch (cause) {
    throw errors.csrInvalid('it is not a PKCS #10 request in PEM').with({ cause });
  }
}

/**
 * Reads a PEM signing request. Its key must have signed it, and must be RSA of 2048 to 4096 bits or ECDSA on P-256, P-384 or P-521, as AWS IoT also demands.
 * Any other request throws `csrInvalid` with the reason. Only the public key of a request is used: the service chooses subject and extensions itself.
 */
export async function readSigningRequest(csr: string): Promise<x509.Pkcs10CertificateRequest> {
  if (csr.length > LONGEST_CSR) throw errors.csrInvalid(`it is longer than ${LONGEST_CSR} characters`);
  const request = parse(csr);
  const algorithm = request.publicKey.algorithm as { name: string; namedCurve?: string; modulusLength?: number };
  const strongRsa = algorithm.name.startsWith('RSA') && (algorithm.modulusLength ?? 0) >= 2048 && (algorithm.modulusLength ?? 0) <= 4096;
  if (!strongRsa && !curves.has(algorithm.namedCurve ?? ''))
    throw errors.csrInvalid('its key must be RSA of 2048 to 4096 bits or ECDSA on P-256, P-384 or P-521');
  const signed = await request.verify().catch(() => false);
  if (!signed) throw errors.csrInvalid('its signature does not fit its key');
  return request;
}
