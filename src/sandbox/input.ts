import { isRecord } from '../json.ts';

/** Measurements come in an envelope: `{ sample: [measurement, …], … }`. What a macro sees is the measurement. */
export type NormalisedInput = { run: true; data: unknown; discarded: number } | { run: false; error: string };

/** Only objects that JSON makes count as envelopes: anything with another prototype is a value. */
const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};

/**
 * Opens one level of envelope and copies nothing. A non-empty array `sample` gives its first element (`discarded` says how many follow). An object `sample`
 * gives itself. An item with an empty array must not run. Everything else is seen as it is.
 */
export const normaliseInput = (data: unknown): NormalisedInput => {
  if (!isPlainObject(data) || !Object.hasOwn(data, 'sample')) return { run: true, data, discarded: 0 };
  const sample = data.sample;
  if (Array.isArray(sample)) {
    if (sample.length === 0) return { run: false, error: 'empty-envelope: the sample-envelope of this item holds no measurement.' };
    return { run: true, data: sample[0], discarded: sample.length - 1 };
  }
  return { run: true, data: isRecord(sample) ? sample : data, discarded: 0 };
};
