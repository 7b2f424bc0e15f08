import { describe, expect, it } from 'vitest';
import { normaliseInput } from '../../src/sandbox/input.ts';
import { buildSeccompFilter } from '../../src/sandbox/seccomp.ts';
import { decodeSource } from '../../src/sandbox/source.ts';
import { fixture } from './machine.ts';

describe('envelopes', () => {
  for (const { name, data, sees, discarded, error } of fixture<
    { name: string; data: unknown; sees?: unknown; discarded?: number; error?: boolean }[]
  >('envelopes.json')) {
    it(name, () => {
      const before = JSON.stringify(data);
      const found = normaliseInput(data);
      if (error) expect(found).toEqual({ run: false, error: expect.stringMatching(/^empty-envelope: .*sample-envelope/) });
      else expect(found).toEqual({ run: true, data: sees, discarded });
      expect(JSON.stringify(data)).toBe(before);
    });
  }

  it('counts only own properties of plain objects', () => {
    class Envelope {
      sample = [1];
    }
    const inherited: unknown = Object.create({ sample: [1] });
    const bare: unknown = Object.assign(Object.create(null), { sample: [1] });
    const instance = new Envelope();
    expect(normaliseInput(instance)).toEqual({ run: true, data: instance, discarded: 0 });
    expect(normaliseInput(inherited)).toEqual({ run: true, data: inherited, discarded: 0 });
    expect(normaliseInput(bare)).toEqual({ run: true, data: 1, discarded: 0 });
  });
});

describe('source text', () => {
  const encoded = (text: string | Uint8Array) => Buffer.from(text).toString('base64');
  it.each([
    ['canonical base64 of text', encoded('return {}'), 'return {}'],
    ['of text beyond ASCII', encoded('# größe\nπ = 3'), '# größe\nπ = 3'],
    ['plain code', 'return {}', 'return {}'],
    ['code that looks like base64 and is not printable', 'output', 'output'],
    ['four letters that decode to bytes', 'abcd', 'abcd'],
    ['base64 with a line feed', `${encoded('return {}')}\n`, `${encoded('return {}')}\n`],
    ['base64 without its padding', encoded('return {} ;').replace(/=+$/, ''), encoded('return {} ;').replace(/=+$/, '')],
    ['base64 whose spare bits are set', 'YR==', 'YR=='],
    ['base64 of a NUL', encoded('a\0b'), encoded('a\0b')],
    ['base64 of bytes that are not UTF-8', encoded(Uint8Array.of(0xff, 0xfe, 0xfd)), encoded(Uint8Array.of(0xff, 0xfe, 0xfd))],
    ['nothing', '', ''],
  ])('%s', (_, code, wanted) => expect(decodeSource(code)).toBe(wanted));
});

describe('the system-call filter', () => {
  /** A machine for the instructions that the filter uses. */
  const decide = (filter: Buffer, call: { nr: number; arch: number; args?: number[] }): number => {
    const memory = Buffer.alloc(64);
    memory.writeUInt32LE(call.nr, 0);
    memory.writeUInt32LE(call.arch, 4);
    (call.args ?? []).forEach((value, index) => memory.writeBigUInt64LE(BigInt(value), 16 + index * 8));
    let accumulator = 0;
    for (let at = 0; ;) {
      const code = filter.readUInt16LE(at * 8);
      const operand = filter.readUInt32LE(at * 8 + 4);
      const jump = (taken: boolean) => (at += 1 + filter.readUInt8(at * 8 + (taken ? 2 : 3)));
      if (code === 0x06) return operand;
      if (code === 0x20) {
        accumulator = memory.readUInt32LE(operand);
        at += 1;
      } else if (code === 0x15) jump(accumulator === operand);
      else if (code === 0x35) jump(accumulator >= operand);
      else if (code === 0x45) jump((accumulator & operand) !== 0);
      else throw new Error(`instruction ${code}`);
    }
  };
  const ALLOW = 0x7fff0000;
  const EPERM = 0x00050001;
  const machines = {
    x64: { arch: 0xc000003e, read: 0, socket: 41, clone: 56, prlimit: 302, ioctl: 16 },
    arm64: { arch: 0xc00000b7, read: 63, socket: 198, clone: 220, prlimit: 261, ioctl: 29 },
  };

  it.each(['x64', 'arm64'] as const)('allows reading and refuses sockets, processes and typing into terminals on %s', (name) => {
    const { arch, read, socket, clone, prlimit, ioctl } = machines[name];
    for (const begun of ['threads', 'copies'] as const) {
      const filter = buildSeccompFilter(name, begun);
      expect(decide(filter, { arch, nr: read })).toBe(ALLOW);
      expect(decide(filter, { arch, nr: socket })).toBe(EPERM);
      expect(decide(filter, { arch, nr: clone, args: [0x11] })).toBe(EPERM);
      expect(decide(filter, { arch, nr: clone, args: [0x10f00] })).toBe(begun === 'threads' ? ALLOW : EPERM);
      expect(decide(filter, { arch, nr: clone, args: [0x01200011] })).toBe(begun === 'copies' ? ALLOW : EPERM);
      expect(decide(filter, { arch, nr: prlimit, args: [0] })).toBe(ALLOW);
      expect(decide(filter, { arch, nr: prlimit, args: [7] })).toBe(EPERM);
      expect(decide(filter, { arch, nr: 435 })).toBe(0x00050026);
      expect(decide(filter, { arch, nr: ioctl, args: [1, 0x5412] })).toBe(EPERM);
      expect(decide(filter, { arch, nr: ioctl, args: [1, 0x541c] })).toBe(EPERM);
      expect(decide(filter, { arch, nr: ioctl, args: [1, 0x5401] })).toBe(ALLOW);
      expect(decide(filter, { arch: 0x40000003, nr: read })).toBe(0x80000000);
    }
    if (name === 'x64') expect(decide(buildSeccompFilter(name, 'threads'), { arch, nr: 0x40000000 + read })).toBe(0x80000000);
  });
});
