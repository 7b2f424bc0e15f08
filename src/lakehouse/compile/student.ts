/** Prints the spread of a mean by Student's t, which neither engine knows, in functions that both have. */
import { joinFragments, q, raw, type Fragment } from '../terms/dialect.ts';

/** The 0.975 quantiles for 1, 2, 3… degrees of freedom, where the expansion is not close enough. */
const QUANTILES = [
  12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146, 2.4469118511449786, 2.364624251592784,
  2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091639, 2.1788128296672284,
];

/** The 0.975 quantile of the normal distribution. */
const Z = 1.959963984540054;
/** The terms of Cornish and Fisher's expansion. Each is divided by one more power of the degrees of freedom. */
const TERMS = [
  (Z ** 3 + Z) / 4,
  (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96,
  (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384,
  (79 * Z ** 9 + 776 * Z ** 7 + 1482 * Z ** 5 - 1920 * Z ** 3 - 945 * Z) / 92_160,
];

/** Prints a double. A literal without an exponent would be a decimal. */
const double = (value: number) => raw(`${value}e0`);

/** Prints the 0.975 quantile for `count - 1` degrees of freedom, right to one part in a million; null for fewer than two values. */
function quantile(count: Fragment): Fragment {
  const known = QUANTILES.map((value, index) => q`when ${raw(String(index + 2))} then ${double(value)}`);
  const expansion = TERMS.reduceRight<Fragment | null>((rest, term) => {
    const sum = rest ? q`(${double(term)} + ${rest})` : double(term);
    return q`${sum} / (${count} - 1)`;
  }, null);
  return q`case ${count} when 0 then null when 1 then null ${joinFragments(known, ' ')} else ${double(Z)} + ${expansion ?? double(0)} end`;
}

/** Prints the standard error of a mean, from the deviation and the number of the values. */
export const buildStandardError = (deviation: Fragment, count: Fragment): Fragment => q`${deviation} / sqrt(nullif(${count}, 0))`;

/** Prints half the width of the 95 % confidence interval of a mean. */
export const buildHalfInterval = (deviation: Fragment, count: Fragment): Fragment =>
  q`${buildStandardError(deviation, count)} * ${quantile(count)}`;
