import type { Request } from 'express';
import { isSigned } from '../../auth/proofs/webhooks.ts';
import { errors } from '../../errors.ts';
import { getRawBody, readJsonBody } from '../requests/body.ts';
import { getContext } from '../exchange.ts';

/** A delivery whose signature holds. */
export interface Delivery {
  /** Carried out at most once. */
  webhookId: string;
}

/** Reads the body and checks the signature over it. Errors: the signature is missing, wrong or too old, whatever else is wrong with the call. */
export async function admitWebhook(request: Request): Promise<Delivery> {
  const call = { id: request.get('webhook-id'), timestamp: request.get('webhook-timestamp'), signature: request.get('webhook-signature') };
  if (call.id === undefined || call.timestamp === undefined || call.signature === undefined) throw errors.webhookSignatureInvalid();
  // the signature is checked also when the body does not parse
  const unreadable: unknown = await readJsonBody(request).then(
    () => undefined,
    (error: unknown) => error ?? new Error('the body cannot be read'),
  );
  if (!isSigned({ ...call, body: getRawBody(request) }, getContext(request).config.webhookSecrets)) throw errors.webhookSignatureInvalid();
  if (unreadable !== undefined) throw unreadable as Error;
  return { webhookId: call.id };
}
