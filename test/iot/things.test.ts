import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { nameThing } from '../../src/iot/things.ts';
import { seedRandomTests } from '../support/random.ts';

beforeAll(seedRandomTests);

const type = fc.constantFrom('multispeq', 'ambyte', 'minipar', 'generic', 'ambit', 'mobile');
const alike = fc.string({ unit: fc.constantFrom('a', '_', '-', '.', '2', 'e', ':', 'é', '/', '5', 'f'), minLength: 1, maxLength: 300 });
const serial = fc.oneof(
  alike,
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
  fc.string({ unit: fc.constantFrom('_', '.'), minLength: 55, maxLength: 70 }),
);

describe('thing names', () => {
  test('stay readable for the serials that devices have', () => {
    expect(nameThing('multispeq', 'E8:F6:0A')).toBe('multispeq_E8:F6:0A');
    expect([nameThing('ambyte', 'a.b'), nameThing('ambyte', 'a,b'), nameThing('ambyte', 'a-b'), nameThing('ambyte', 'a_b')]).toEqual([
      'ambyte_a_2eb',
      'ambyte_a_2cb',
      'ambyte_a-b',
      'ambyte_a__b',
    ]);
  });

  test('are legal and at most 128 characters, whatever the serial', () => {
    fc.assert(
      fc.property(type, serial, (deviceType, text) => /^[A-Za-z0-9:_-]{1,128}$/.test(nameThing(deviceType, text))),
      { numRuns: 2_000 },
    );
  });

  test('never meet: different devices, different names', () => {
    fc.assert(
      fc.property(type, serial, type, serial, (typeA, a, typeB, b) => {
        fc.pre(typeA !== typeB || a !== b);
        return nameThing(typeA, a) !== nameThing(typeB, b);
      }),
      { numRuns: 5_000 },
    );
    fc.assert(
      fc.property(type, serial, (deviceType, text) => {
        const spelled = nameThing(deviceType, text).slice(deviceType.length + 1);
        return spelled === text || nameThing(deviceType, spelled) !== nameThing(deviceType, text);
      }),
      { numRuns: 2_000 },
    );
    const near = Array.from({ length: 400 }, (_, length) =>
      ['_', '.', 'a'].map((unit) => nameThing('ambit', unit.repeat(length + 1))),
    ).flat();
    expect(new Set(near).size).toBe(near.length);
  });

  test('a short name never looks like a hashed one', () => {
    const long = nameThing('generic', 'x'.repeat(255));
    expect(long).toHaveLength(128);
    const disguised = long.slice('generic_'.length);
    expect(nameThing('generic', disguised)).not.toBe(long);
    fc.assert(
      fc.property(serial, (text) => {
        const name = nameThing('generic', text);
        const spelledOut = /^(?:[A-Za-z0-9:-]|__|_[0-9a-f]{2})+$/.test(name.slice('generic_'.length));
        return spelledOut !== /^generic_(?:[A-Za-z0-9:-]|__|_[0-9a-f]{2})*_-[0-9a-f]{64}$/.test(name);
      }),
      { numRuns: 2_000 },
    );
  });

  test('refuse an empty or ill-formed serial and an odd type', () => {
    expect(() => nameThing('generic', '')).toThrow();
    expect(() => nameThing('generic', '\ud800')).toThrow();
    expect(() => nameThing('a_b', 'x')).toThrow();
  });
});
