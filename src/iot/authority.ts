/** The local certificate authority: made once in a folder, it signs device certificates and the broker's own. */
import 'reflect-metadata';
import { createHash, randomBytes, webcrypto } from 'node:crypto';
import { link, mkdir, open, readFile, rename, unlink } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
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
export const certificateIdOf = (der: Uint8Array): string => createHash('sha256').update(der).digest('hex');

const serial = () => `01${randomBytes(15).toString('hex')}`;
const pem = async (key: webcrypto.CryptoKey) => x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

async function writeOnce(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = await open(draft, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  } finally {
    await unlink(draft);
  }
}

async function newAuthority(): Promise<string> {
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

/**
 * Opens the authority of a folder, making it at the first call. Key and certificate are one file (`authority.pem`, mode 0600) that appears at
 * once and never changes, so that any number of processes may start together; `ca.pem` beside it is the certificate alone, for clients.
 */
export async function openAuthority(folder: string): Promise<Authority> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'authority.pem');
  const kept = async () =>
    readFile(path, 'utf8').catch((cause: unknown) =>
      (cause as NodeJS.ErrnoException).code === 'ENOENT' ? null : Promise.reject(cause as Error),
    );
  if ((await kept()) === null) await writeOnce(path, await newAuthority(), 0o600);
  const text = await readFile(path, 'utf8');
  const [keyDer, certificateDer] = x509.PemConverter.decode(text);
  if (!keyDer || !certificateDer) throw new Error(`${path} does not hold a key and a certificate`);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', keyDer, EC, false, ['sign']);
  const issuer = new x509.X509Certificate(certificateDer);
  const certificatePem = issuer.toString('pem');
  const draft = join(folder, `ca.pem.${randomBytes(6).toString('hex')}`);
  const file = await open(draft, 'wx', 0o644);
  await file.writeFile(`${certificatePem}\n`);
  await file.close();
  await rename(draft, join(folder, 'ca.pem'));

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
      return { certificateId: certificateIdOf(new Uint8Array(certificate.rawData)), certificatePem: certificate.toString('pem') };
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
