import { ApiError, isRefusal } from '../errors.ts';
import { isStorageFull } from '../storage/full.ts';

/** True for a failure that says nothing about what is read: a full disk, or a store or database that cannot be reached. */
export const isAround = (error: unknown): boolean =>
  isStorageFull(error) || isRefusal(error, 'databaseTimeout') || (error instanceof ApiError && error.status === 503);
