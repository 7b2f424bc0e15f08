import { expect, test } from 'vitest';
import { sharedSite, spawnServer } from '../support/process.ts';

test('a log that takes no line holds nothing up: requests are answered, and SIGTERM ends the process', async () => {
  const shared = await sharedSite();
  const server = await spawnServer({ ...shared.environment, LOG_FILE: '/dev/full' });
  try {
    // far more than is gathered for one write
    for (let at = 0; at < 100; at += 1) {
      const answer = await fetch(`${server.baseUrl}/api/v1/users/me`, { signal: AbortSignal.timeout(20_000) });
      expect(answer.status).toBe(401);
      await answer.text();
    }
    expect((await fetch(`${server.baseUrl}/health/ready`)).status).toBe(200);
    await server.kill('SIGTERM');
    expect(server.child.exitCode).toBe(0);
  } finally {
    await server.kill('SIGKILL');
    await shared.remove();
  }
});
