import { expect, test } from 'vitest';
import { seedOf } from '../support/crashes.ts';
import { countFired } from '../support/fire.ts';
import { fireUnderKills } from '../support/kills.ts';

const ACTS = Number(process.env['FIRE'] ?? 10_000);
const KILLS = Number(process.env['KILLS'] ?? 200);

test(`${ACTS} acts of 20 people on two servers under ${KILLS} kills`, { timeout: 7_200_000 }, async () => {
  const seed = seedOf('fire');
  const after = await fireUnderKills({ seed, people: 20, acts: ACTS, kills: KILLS, lanes: 8 });
  console.info(JSON.stringify({ seed, answers: countFired(after.fired, 100, 600), ...after }, null, 1));
  expect({ seed, breaches: after.breaches }).toEqual({ seed, breaches: [] });
  expect(after.kills).toBe(KILLS);
  expect(countFired(after.fired, 500, 600)).toBe(0);
});
