import type { NextFunction, Request, Response } from 'express';
import { readJsonBody } from '../requests/body.ts';
import { refuseForeignPages } from './origins.ts';

/** For routes without a caller that a page may call, such as signing in: refuses pages that are not trusted, then reads the body. */
export async function protectPublicWrite(request: Request, response: Response, next: NextFunction): Promise<void> {
  refuseForeignPages(request);
  response.setHeader('Cache-Control', 'no-store');
  await readJsonBody(request);
  next();
}
