/** Names of things: what a device is called in the registry, in its certificate's policies and on the broker. */
import { createHash } from 'node:crypto';
import { errors } from '../errors.ts';

const LONGEST = 128;
const HASH_MARK = '_-';
const plain = /^[A-Za-z0-9:-]$/;

const hex = (byte: number) => byte.toString(16).padStart(2, '0');

/** One piece of encoded text per UTF-8 character: itself, `__` for an underscore, `_hh` per byte for all else. */
function* pieces(serialNumber: string): Generator<string> {
  for (const character of serialNumber) {
    if (plain.test(character)) yield character;
    else if (character === '_') yield '__';
    else yield [...Buffer.from(character, 'utf8')].map((byte) => `_${hex(byte)}`).join('');
  }
}

/**
 * Names the thing of a device: `{deviceType}_{serial}`, at most 128 characters of `A-Z a-z 0-9 : _ -`. No two devices share a name. Outside letters, digits,
 * `:` and `-` a serial is escaped (`a.b` is `a_2eb`, `a_b` is `a__b`). A name that would be too long ends in `_-` and the SHA-256 of type and serial. Read from
 * the left, `_-` is no escape, so no short name is also a hashed one. `deviceType` is lower-case letters only. The serial must be well-formed Unicode and not
 * empty. Anything else is `invalidInput`.
 */
export function nameThing(deviceType: string, serialNumber: string): string {
  if (!/^[a-z]{1,32}$/.test(deviceType))
    throw errors.invalidInput().with({ problems: [{ path: '/deviceType', message: 'must be 1 to 32 lower-case letters' }] });
  if (serialNumber === '' || !serialNumber.isWellFormed()) {
    throw errors
      .invalidInput()
      .with({ problems: [{ path: '/serialNumber', message: 'must be well-formed text of at least one character' }] });
  }
  const digest = createHash('sha256').update(`${deviceType}_${serialNumber}`, 'utf8').digest('hex');
  const room = LONGEST - HASH_MARK.length - digest.length;
  let name = `${deviceType}_`;
  let head = name;
  for (const piece of pieces(serialNumber)) {
    name += piece;
    if (name.length <= room) head = name;
    if (name.length > LONGEST) return `${head}${HASH_MARK}${digest}`;
  }
  return name;
}
