import { expect } from 'vitest';

/** Deep equality in which numbers may differ by `tolerance`, absolute below 1 and relative above. */
export const near = (actual: unknown, wanted: unknown, tolerance: number, path = 'output'): void => {
  if (typeof wanted === 'number' && typeof actual === 'number') {
    const allowed = tolerance * Math.max(1, Math.abs(wanted));
    expect(Math.abs(actual - wanted), `${path}: ${actual} for ${wanted}`).toBeLessThanOrEqual(allowed);
  } else if (Array.isArray(wanted) && Array.isArray(actual)) {
    expect(actual.length, `${path}.length`).toBe(wanted.length);
    wanted.forEach((entry, index) => near(actual[index], entry, tolerance, `${path}[${index}]`));
  } else if (typeof wanted === 'object' && wanted !== null && typeof actual === 'object' && actual !== null && !Array.isArray(actual)) {
    expect(Object.keys(actual).sort(), path).toEqual(Object.keys(wanted).sort());
    for (const [key, entry] of Object.entries(wanted)) near((actual as Record<string, unknown>)[key], entry, tolerance, `${path}.${key}`);
  } else {
    expect(actual, path).toEqual(wanted);
  }
};
