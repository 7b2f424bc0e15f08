import { Router, type Request, type Response } from 'express';
import { errors } from '../errors.ts';
import type { FolderStore } from '../storage/folder.ts';
import type { Stored } from '../storage/objects.ts';
import { getExchange } from './exchange.ts';
import { allowOnly } from './methods.ts';

interface ObjectRoutes {
  store: FolderStore;
  /** Bytes of one object at most. */
  maxBytes: number;
  /** Called when an object is stored. The sender is answered after this has resolved. */
  arrived: (key: string, stored: Stored) => Promise<void>;
}

const mediaType = (header: string | undefined) => header?.split(';')[0]?.trim().toLowerCase();

/** `/objects/<key>`: signed URLs of the object folder. The URL is the whole credential; it says the key, and what may be sent. */
export function makeObjectRoutes({ store, maxBytes, arrived }: ObjectRoutes): Router {
  const router = Router();

  router.use(allowOnly('PUT'));
  router.use(async (request: Request, response: Response) => {
    response.setHeader('Cache-Control', 'no-store');
    const { searchParams } = new URL(request.originalUrl, 'http://localhost');
    const grant = store.verify(request.path.replace(/^\//, ''), searchParams);
    if (grant.contentType !== undefined && mediaType(request.get('content-type')) !== grant.contentType.toLowerCase())
      throw errors.unsupportedMediaType(grant.contentType);
    const announced = request.get('content-length');
    if (grant.contentLength !== undefined && announced !== undefined && Number(announced) !== grant.contentLength)
      throw errors.objectMismatch('length');
    const { signal } = getExchange(response);
    // what is left of a refused body is read and thrown away, or the next request on its connection would never be heard
    const body = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    const stored = await store.redeem(grant, body, { maxBytes, signal }).finally(() => request.resume());
    await arrived(grant.key, stored);
    response.status(200).end();
  });
  return router;
}
