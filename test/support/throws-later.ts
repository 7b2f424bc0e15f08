// Preloaded into a server by tests: on SIGUSR2 something fails in a timer, outside every request, as FAULT says.

const FAULTS: Readonly<Record<string, () => void>> = {
  exception: () => {
    throw new Error('a callback threw');
  },
  rejection: () => void Promise.reject(new Error('nobody waits for this')),
  connection: () => {
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  },
  statement: () => void Promise.reject(Object.assign(new Error('terminating connection'), { code: '57P01' })),
  memory: () => {
    throw new RangeError('Array buffer allocation failed');
  },
};

process.on('SIGUSR2', () => setTimeout(FAULTS[process.env['FAULT'] ?? ''] ?? (() => undefined), 10));
