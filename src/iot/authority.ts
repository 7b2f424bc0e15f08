/** The local certificate authority: it signs device certificates and the broker's own. */
import 'reflect-metadata';
import { createHash, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { EC, readSigningRequest, SIGNING } from './keys.ts';

const DAY = 86_400_000;
/** AWS's device certificates end then too; revocation, not expiry, ends ours. */
const FOREVER = new Date('2049-12-31T23:59:59Z');
const SERVER_DAYS = 397;
/** Instruments' clocks are wrong; a certificate is valid from a day before it was made. */
const backdated = () => new Date(Date.now() - DAY);

export interface SignedCertificate {
  /** SHA-256 of the certificate's DER bytes, hex: the same rule as AWS IoT's certificate ids. */
  certificateId: string;
  certificatePem: string;
}

export interface ServerCertificate {
  certificatePem: string;
  /** PEM, PKCS #8. Lives in memory only; a new one is made at every start. */
  privateKey: string;
  expires: Date;
}

export interface Authority {
  /** PEM; what devices and browsers must trust. */
  certificatePem: string;
  /** Signs the public key of a PEM signing request for a device (client authentication only). */
  signDevice(csr: string): Promise<SignedCertificate>;
  /** A certificate for the broker, valid for these host names and addresses besides localhost and 127.0.0.1. */
  signServer(names: readonly string[]): Promise<ServerCertificate>;
}

/** SHA-256 over DER, hex. */
export const hashCertificate = (der: Uint8Array): string => createHash('sha256').update(der).digest('hex');

const serial = () => `01${randomBytes(15).toString('hex')}`;
const pem = async (key: webcrypto.CryptoKey) => x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

/** A new authority: PEM of its private key (PKCS #8) and of its certificate, one behind the other. */
export async function makeAuthority(): Promise<string> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=fieldlake local authority ${randomBytes(4).toString('hex')}`,
    notBefore: backdated(),
    notAfter: FOREVER,
    keys,
    signingAlgorithm: SIGNING,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${await pem(keys.privateKey)}\n${certificate.toString('pem')}\n`;
}

/** Opens an authority from the PEM text that `makeAuthority` made: its private key, then its certificate. */
export async function openAuthority(text: string): Promise<Authority> {
  const [keyDer, certificateDer] = x509.PemConverter.decode(text);
  if (!keyDer || !certificateDer) throw new Error('an authority is the PEM of a key and of a certificate');
  const signingKey = await webcrypto.subtle.importKey('pkcs8', keyDer, EC, false, ['sign']);
  const issuer = new x509.X509Certificate(certificateDer);
  const certificatePem = issuer.toString('pem');

  const sign = async (publicKey: x509.PublicKey, subject: string, notAfter: Date, extensions: x509.Extension[]) =>
    x509.X509CertificateGenerator.create({
      serialNumber: serial(),
      subject,
      issuer: issuer.subject,
      notBefore: backdated(),
      notAfter,
      publicKey,
      signingKey,
      signingAlgorithm: SIGNING,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        await x509.AuthorityKeyIdentifierExtension.create(issuer),
        await x509.SubjectKeyIdentifierExtension.create(publicKey),
        ...extensions,
      ],
    });

  return {
    certificatePem,
    async signDevice(csr) {
      const request = await readSigningRequest(csr);
      const certificate = await sign(request.publicKey, 'CN=fieldlake device', FOREVER, [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      ]);
      return { certificateId: hashCertificate(new Uint8Array(certificate.rawData)), certificatePem: certificate.toString('pem') };
    },
    async signServer(names) {
      const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify']);
      const expires = new Date(Date.now() + SERVER_DAYS * DAY);
      const alternatives = [...new Set([...names, 'localhost', '127.0.0.1'])].map((value) => ({
        type: isIP(value) ? ('ip' as const) : ('dns' as const),
        value,
      }));
      const publicKey = await x509.PublicKey.create(keys.publicKey);
      const certificate = await sign(publicKey, 'CN=fieldlake broker', expires, [
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(alternatives),
      ]);
      return { certificatePem: certificate.toString('pem'), privateKey: await pem(keys.privateKey), expires };
    },
  };
}
