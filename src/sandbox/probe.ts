import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readJson } from '../json.ts';
import { BWRAP, R_HOME, makeBoxLaunch, findPythonFolders, type BoxTools } from './bubblewrap.ts';
import { makeEmbeddedLaunch, makeSnapshot, type Limits } from './embedded.ts';
import { START_MS, type LevelReport, type MacroLanguage } from './job.ts';
import { MacroProcess, type Launch } from './process.ts';
import type { Runtimes } from './runtimes.ts';
import { buildSeccompFilter } from './seccomp.ts';

const run = promisify(execFile);

export interface ProbeSettings {
  runtimes: Runtimes;
  /** A folder that everybody may enter, for files that boxes start from. */
  folder: string;
  /** A folder for what takes long to make, kept between starts; nobody else may write there. */
  keepIn?: string;
  /** Accepted levels: the best that works, or one and no other. */
  level: 'best' | 'bubblewrap' | 'embedded';
  /** Whether embedded processes may run as root when the user of `identity` cannot read the program's files. The operator has to ask for it. */
  acceptRoot: boolean;
  python: string;
  node: string;
  limits: Limits;
}

/** The first of 1,000 users that processes run as when this process is root. */
const FIRST_UID = 64_000;

export interface Prepared extends LevelReport {
  /** Absent when the language is unavailable. `hurried`: somebody waits for the process. */
  launch?: (hurried: boolean) => Launch;
}

const INSTALL: Readonly<Record<MacroLanguage, string>> = {
  python: 'bubblewrap python3 python3-numpy python3-pandas python3-scipy',
  r: 'bubblewrap r-base-core r-recommended r-cran-jsonlite',
  javascript: 'bubblewrap',
};

/** Finds the files that the boxes of the operating system are built from. Asking the interpreter where it imports from runs nobody's code. */
const findTools = async (settings: ProbeSettings): Promise<BoxTools | string> => {
  const { python, node, runtimes, folder } = settings;
  if (process.platform !== 'linux' || (process.arch !== 'x64' && process.arch !== 'arm64'))
    return `there is no bubblewrap for ${process.platform} on ${process.arch}`;
  if (!existsSync(BWRAP)) return `${BWRAP} is not installed`;
  const filters = { threads: join(folder, 'threads.bpf'), copies: join(folder, 'copies.bpf') };
  await writeFile(filters.threads, buildSeccompFilter(process.arch, 'threads'));
  await writeFile(filters.copies, buildSeccompFilter(process.arch, 'copies'));
  const tools: BoxTools = { node, runtimes, filters, hasR: existsSync(join(R_HOME, 'bin/exec/R')) };
  if (existsSync(python)) {
    const asked = ['-I', '-c', 'import json, sys; print(json.dumps([p for p in sys.path]))'];
    const said = await run(python, asked, { env: {}, timeout: START_MS }).catch(() => undefined);
    if (said) tools.python = { executable: realpathSync(python), folders: findPythonFolders(readJson(said.stdout) as string[]) };
  }
  return tools;
};

/** Whether a user without rights of any kind may read this path and pass through all folders above it. */
const openToAll = (path: string): boolean => {
  const real = realpathSync(path);
  for (let at = real; ; at = dirname(at)) {
    const needed = at === real ? constants.R_OK : constants.X_OK;
    if ((statSync(at).mode & needed) === 0) return false;
    if (dirname(at) === at) return true;
  }
};

/** Starts one process and ends it. Answers why it did not start; undefined when it did. */
const tryOut = async (launch: Launch): Promise<string | undefined> => {
  let started: MacroProcess;
  try {
    accessSync(launch.file, constants.X_OK);
    started = new MacroProcess(launch);
  } catch (error) {
    return (error as Error).message;
  }
  try {
    await started.ready;
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    started.kill();
    await started.ended;
  }
};

/** Finds the level at which each language can run on this machine by starting a process of it. */
export const chooseLevels = async (settings: ProbeSettings, languages: readonly MacroLanguage[]): Promise<Map<MacroLanguage, Prepared>> => {
  const { level, runtimes, limits, node, acceptRoot } = settings;
  const root = process.getuid?.() === 0;
  // Services on one machine start at different users, or their processes would be counted together and find no room for a thread.
  let turn = randomInt(1000);
  /** Each process gets another user, so that none can touch its neighbour and each has its own count of processes. */
  const dropped = (launch: Launch): Launch => {
    if (!root) return launch;
    const id = FIRST_UID + (turn++ % 1000);
    return { ...launch, identity: { uid: id, gid: id } };
  };
  const tools = level === 'embedded' ? 'the configuration asks for the embedded level' : await findTools(settings);
  const readable = [node, runtimes.folder, runtimes.pyodide, ...runtimes.quickjs].every(openToAll);

  const boxed = async (language: MacroLanguage): Promise<Prepared | string> => {
    if (typeof tools === 'string') return tools;
    try {
      const launch = (hurried: boolean) => dropped(makeBoxLaunch(language, tools, limits, hurried));
      // Tried a second time, because a machine that is short of something may refuse once.
      const failure = (await tryOut(launch(true))) === undefined ? undefined : await tryOut(launch(true));
      return failure ?? { level: 'bubblewrap', reason: '', launch };
    } catch (error) {
      return (error as Error).message;
    }
  };
  const embedded = async (language: MacroLanguage, why: string): Promise<Prepared> => {
    const advice = `${why}; install ${INSTALL[language]} for the bubblewrap level`;
    const unavailable = (reason: string): Prepared => ({ level: 'unavailable', reason });
    if (language === 'r') return unavailable(`R runs only at the bubblewrap level: ${advice}`);
    if (level === 'bubblewrap') return unavailable(`only the bubblewrap level is accepted: ${advice}`);
    if (root && !readable && !acceptRoot)
      return unavailable(`this process is root and an ordinary user cannot read ${runtimes.folder}, its packages or ${node}`);
    if (language === 'python') {
      const failure = await makeSnapshot(node, runtimes, settings.folder, settings.keepIn).then(
        () => undefined,
        (error: unknown) => (error as Error).message,
      );
      if (failure !== undefined) return unavailable(`${failure}; ${advice}`);
    }
    const plain = (hurried: boolean) => makeEmbeddedLaunch(language, settings, limits, hurried);
    const launch = (hurried: boolean) => (root && !readable ? plain(hurried) : dropped(plain(hurried)));
    const failure = await tryOut(launch(true));
    if (failure !== undefined) return unavailable(`${failure}; ${advice}`);
    return { level: 'embedded', reason: language === 'python' ? `numpy, pandas and scipy are missing: ${advice}` : advice, launch };
  };

  const found = await Promise.all(
    languages.map(async (language): Promise<[MacroLanguage, Prepared]> => {
      const first = await boxed(language);
      return [language, typeof first === 'string' ? await embedded(language, first) : first];
    }),
  );
  return new Map(found);
};
