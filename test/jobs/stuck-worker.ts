/** A process that takes a job of the queue at the given address, says so, and never ends it. */
import { APPLICATION_ROLE } from '../../src/database/migrate.ts';
import { openJobQueue } from '../../src/jobs/queue.ts';

const queue = await openJobQueue({ url: process.argv[2]!, role: APPLICATION_ROLE, onError: () => undefined });
await queue.work([
  {
    name: 'stuck',
    run: () => {
      process.stdout.write('at it\n');
      return new Promise(() => undefined);
    },
  },
]);
