import type { RequestHandler } from 'express';

/** Keeps answers out of shared caches, and has them asked for again by their entity tag. An operation that shows a secret sets `no-store` instead. */
export const setCachePolicy: RequestHandler = (_request, response, next) => {
  response.setHeader('Cache-Control', 'private, no-cache');
  next();
};
