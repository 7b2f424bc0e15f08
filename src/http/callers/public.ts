import type { NextFunction, Request, Response } from 'express';
import { readJsonBody } from '../requests/body.ts';
import { refuseForeignPages } from './origins.ts';

/** For routes without a caller that a page may call, such as signing in: refuses pages that are not trusted, then reads the body. */
export function protectPublicWrite(request: Request, response: Response, next: NextFunction): void {
  try {
    refuseForeignPages(request);
  } catch (error) {
    next(error);
    return;
  }
  response.setHeader('Cache-Control', 'no-store');
  readJsonBody(request).then(() => next(), next);
}
