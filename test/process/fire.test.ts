import { expect, test } from 'vitest';
import { seedOf } from '../support/crashes.ts';
import { countFired } from '../support/fire.ts';
import { fireUnderKills } from '../support/kills.ts';

const KILLS = 6;

test(
  'two servers, killed again and again while people share, leave, hand over and close accounts: nothing is left unanswered for',
  { timeout: 400_000 },
  async () => {
    const seed = seedOf('fire');
    const after = await fireUnderKills({ seed, people: 20, acts: 300, kills: KILLS, lanes: 8 });
    expect({ seed, breaches: after.breaches }).toEqual({ seed, breaches: [] });
    expect(after).toMatchObject({ kills: KILLS, checks: KILLS + 2 });
    expect({ seed, fired: after.fired, failed: countFired(after.fired, 500, 600) }).toMatchObject({ failed: 0 });
    expect(countFired(after.fired, 200, 300)).toBeGreaterThan(30);
  },
);
