/** Counts the arrows between the rooms of `ingest` and of `lakehouse`, from what the import checker prints as JSON. Above `MOST` of a house it fails. */
import { text } from 'node:stream/consumers';

const HOUSES = ['ingest', 'lakehouse'];
const MOST = 25;

interface Cruise {
  modules: { source: string; dependencies: { resolved: string }[] }[];
}

const { modules } = JSON.parse(await text(process.stdin)) as Cruise;
for (const house of HOUSES) {
  const within = new RegExp(`^src/${house}/(?:([^/]+)/)?`);
  /** The folder of a file within the house; files beside the folders are a room too. Undefined outside of it. */
  const roomOf = (path: string) => {
    const found = within.exec(path);
    return found ? (found[1] ?? '.') : undefined;
  };
  const arrows = new Set<string>();
  for (const { source, dependencies } of modules)
    for (const { resolved } of dependencies) {
      const [from, to] = [roomOf(source), roomOf(resolved)];
      if (from !== undefined && to !== undefined && from !== to) arrows.add(`${from} → ${to}`);
    }
  if (arrows.size === 0) throw new Error(`no imports of ${house} were found`);
  console.log(`${house}: ${arrows.size} arrows between its rooms, of at most ${MOST}`);
  if (arrows.size > MOST) {
    console.error([...arrows].sort().join('\n'));
    process.exitCode = 1;
  }
}
