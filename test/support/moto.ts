import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findFreePort } from './free-port.ts';
import { pythonWith } from './python.ts';

/** Starts moto, an AWS-API server from PyPI, installed from there; or answers MOTO_ENDPOINT, if one runs already. */
export async function startMoto(): Promise<{ endpoint: string; stop: () => Promise<unknown> }> {
  const given = process.env['MOTO_ENDPOINT'] ?? '';
  if (given !== '') return { endpoint: given, stop: () => Promise.resolve() };
  const programs = pythonWith('moto[server,iot,sts,s3]');
  const port = await findFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const server = spawn(join(programs, 'moto_server'), ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  for (let tries = 0; ; tries++) {
    const up = await fetch(`${endpoint}/moto-api/`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (up) break;
    if (tries > 450) throw new Error('moto did not start');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    endpoint,
    stop: () => {
      server.kill();
      return once(server, 'exit');
    },
  };
}
