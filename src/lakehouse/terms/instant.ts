/**
 * Prints microseconds since 1970, as Parquet files and warehouses count them, as ISO 8601 in UTC with six digits. Throws RangeError beyond what a date can be.
 */
export function printInstant(microseconds: bigint): string {
  const rest = ((microseconds % 1_000n) + 1_000n) % 1_000n;
  const milliseconds = Number((microseconds - rest) / 1_000n);
  return new Date(milliseconds).toISOString().replace('Z', `${String(rest).padStart(3, '0')}Z`);
}
