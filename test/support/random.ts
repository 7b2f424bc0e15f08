import fc from 'fast-check';

/** Sets fast-check's seed from FC_SEED (to replay a failure) or the clock, and prints it once per test file. */
export function seedRandomTests(): void {
  const seed = process.env['FC_SEED'] === undefined ? Date.now() % 2_147_483_647 : Number(process.env['FC_SEED']);
  fc.configureGlobal({ seed });
  console.log(`FC_SEED=${seed}`);
}
