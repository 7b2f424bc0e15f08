import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A digest of every table in a backup, whatever the order of its rows. */
export function tablesOf(backup: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(join(backup, 'tables')).map((name) => {
      const lines = readFileSync(join(backup, 'tables', name), 'utf8')
        .split('\n')
        .sort();
      return [name, `${lines.length - 1} ${createHash('sha256').update(lines.join('\n')).digest('hex')}`];
    }),
  );
}

/** A digest of every file below a folder. */
export function filesOf(root: string, under = ''): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(root, under), { withFileTypes: true })) {
    const path = join(under, entry.name);
    if (entry.isDirectory()) Object.assign(found, filesOf(root, path));
    else
      found[path] = createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex');
  }
  return found;
}
