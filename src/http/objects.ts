import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { Router, type Request, type Response } from 'express';
import { errors, refuse } from '../errors.ts';
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

/** `/objects/<key>`: signed URLs of the object folder. The URL is the whole credential; it says method, key, and what may be sent. */
export function makeObjectRoutes({ store, maxBytes, arrived }: ObjectRoutes): Router {
  const router = Router();

  const put = async (request: Request, response: Response): Promise<void> => {
    const grant = store.verify('PUT', keyOf(request), queryOf(request));
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
  };

  const get = async (request: Request, response: Response): Promise<void> => {
    const grant = store.verify('GET', keyOf(request), queryOf(request));
    const facts = (await store.head(grant.key)) ?? refuse(errors.objectNotFound());
    response.setHeader('Content-Type', 'application/octet-stream');
    response.setHeader('Content-Length', facts.byteCount);
    if (request.method === 'HEAD') {
      response.end();
      return;
    }
    await pipeline(Readable.from(await store.get(grant.key)), response);
  };

  router.use(allowOnly('GET', 'HEAD', 'PUT'));
  router.use((request: Request, response: Response) => {
    response.setHeader('Cache-Control', 'no-store');
    return request.method === 'PUT' ? put(request, response) : get(request, response);
  });
  return router;
}

const keyOf = (request: Request) => request.path.replace(/^\//, '');
const queryOf = (request: Request) => new URL(request.originalUrl, 'http://localhost').searchParams;
