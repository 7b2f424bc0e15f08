const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/** Writes a decimal or exponent number in plain digits: `1.25e1` → `12.5`. Null when the text is no number, or its exponent is beyond 400. */
export const readPlainDecimal = (text: string): { text: string; scale: number } | null => {
  const [, sign = '', left = '', right = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (left + right === '') return null;
  const shift = Number(exponent);
  const digits = left + right;
  const point = left.length + shift;
  if (Math.abs(shift) > 400) return null;
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits + '0'.repeat(Math.max(0, point - digits.length));
  const at = Math.max(1, point);
  const integer = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  const fraction = padded.slice(at).replace(/0+$/, '');
  return { text: `${sign === '-' ? '-' : ''}${integer}${fraction ? `.${fraction}` : ''}`, scale: fraction.length };
};

/** Whether two texts of numbers have one value. */
export const isSameNumber = (left: string, right: string): boolean => {
  const number = readPlainDecimal(left);
  return number !== null && number.text === readPlainDecimal(right)?.text;
};
