import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a document tells nginx. */
const readNginx = (document: string): string =>
  /```nginx\n([^]*?)```/.exec(readFileSync(join(import.meta.dirname, '..', '..', 'docs', document), 'utf8'))![1]!;

/** Starts nginx at a port as docs/operations.md says, before one process, or two, as docs/growing.md says. Stops with the returned function. */
export async function startNginx(port: number, ...upstreams: [string] | [string, string]): Promise<() => void> {
  if (spawnSync('which', ['nginx']).status !== 0) throw new Error('nginx is needed: apt install nginx-light');
  const folder = mkdtempSync(join(tmpdir(), 'fieldlake-nginx-'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
  const hosts = upstreams.map((url) => new URL(url).host);
  const several = upstreams.length === 1 ? '' : readNginx('growing.md').replaceAll(/10\.0\.0\.\d+:3000/g, () => hosts.shift()!);
  const place = upstreams.length === 1 ? upstreams[0] : 'http://fieldlake';
  // its workers keep large bodies in there, and are another account
  chmodSync(folder, 0o711);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
     http { access_log off; ${temporary} ${several} server { listen 127.0.0.1:${port}; ${readNginx('operations.md').replace('http://127.0.0.1:3000', place)} } }`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-e', join(folder, 'start.log'), '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
  for (let tries = 0; tries < 600; tries += 1) {
    const there = await fetch(`http://127.0.0.1:${port}/health/live`).then(
      (answer) => answer.status === 200,
      () => false,
    );
    if (there)
      return () => {
        nginx.kill('SIGTERM');
        rmSync(folder, { recursive: true, force: true });
      };
    await sleep(50);
  }
  throw new Error('nginx did not start');
}
