import { audit } from '../../auth/audit.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Context } from '../../context.ts';
import type { CertificateBundle as IssuedBundle } from '../../iot/sequences.ts';
import { dropVersion } from '../input/input.service.ts';
import type { CertificateBundle, Device } from './devices.model.ts';
import { requireDevice } from './devices.service.ts';

const shown = ({ privateKey, ...bundle }: IssuedBundle): CertificateBundle => ({ ...bundle, privateKey: privateKey ?? '' });

async function written(
  ctx: Context,
  caller: Caller,
  id: string,
  action: 'certificate.issued' | 'certificate.rotated',
  certificateId: string,
) {
  await ctx.db.transaction(async (tx) => {
    await audit(tx, caller, { action, resource: { type: 'device', id }, details: { certificateId } });
    await caller.created(tx, null, { made: `certificate ${certificateId} of this device` });
  });
}

/** Issues a device's certificate, which is shown once. Errors: deviceStateRefused when the device has one, csrInvalid, deviceBusy. */
export async function issueCertificate(ctx: Context, caller: Caller, id: string, csr: string | undefined): Promise<CertificateBundle> {
  const bundle = await ctx.iot.lifecycle.issue(id, csr ?? null);
  await written(ctx, caller, id, 'certificate.issued', bundle.certificateId);
  return shown(bundle);
}

/** Issues a second certificate. `retire` ends the first one, and must be called once the bundle has been sent. */
export async function rotateCertificate(
  ctx: Context,
  caller: Caller,
  id: string,
  csr: string | undefined,
): Promise<{ bundle: CertificateBundle; retire: () => Promise<void> }> {
  const { bundle, retire } = await ctx.iot.lifecycle.rotate(id, csr ?? null);
  await written(ctx, caller, id, 'certificate.rotated', bundle.certificateId);
  return { bundle: shown(bundle), retire };
}

/** Ends every certificate of a device, and its live connections. */
export async function revokeCertificate(ctx: Context, caller: Caller, id: string): Promise<Device> {
  await ctx.iot.lifecycle.revoke(id);
  await ctx.db.transaction((tx) => audit(tx, caller, { action: 'certificate.revoked', resource: { type: 'device', id } }));
  return dropVersion(await requireDevice(ctx, id));
}
