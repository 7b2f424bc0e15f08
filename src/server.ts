import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareSample, printQuickstart } from './operator/sample/sample.service.ts';
import { openClient } from './operator/sample/client.ts';
import { loadSeason } from './operator/sample/season.service.ts';
import { preparePartners, prepareViews } from './operator/sample/views.service.ts';
import { runBroker } from './api/messages/broker.service.ts';
import { createApp } from './app.ts';
import { issueLink } from './auth/proofs/links.ts';
import { ConfigError, readConfig, USUAL_PORT, type Config } from './config.ts';
import type { Context } from './context.ts';
import { createContext } from './compose.ts';
import { StartError } from './errors.ts';
import { watchFaults } from './faults.ts';
import { createAdminApp } from './http/admin.ts';
import { makeDrain } from './http/connections/drain.ts';
import { createListener } from './http/connections/listener.ts';
import { MQTT_PORT } from './iot/registry.ts';
import { startWorker } from './worker.ts';

/** Milliseconds for which every answer says that its connection will close. Then idle connections are closed. */
const NOTICE_MS = 1_000;
/** Milliseconds that a process which is told to stop while it starts waits for that, so that what it began ends with it. */
const START_MS = 25_000;

export interface RunningServer {
  context: Context;
  baseUrl: string;
  adminUrl: string;
  /** Where this process itself listens; the base URL may be that of a proxy. */
  localUrl: string;
  /** Stops taking requests, lets the running ones end, and closes everything; callers with kept connections have `noticeMs` to leave by themselves. */
  stop(noticeMs?: number): Promise<void>;
}

const urlOf = (server: Server, host: string) =>
  `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;

/** Opens the port that the setting of this name chose; `orFree`, another one where it is taken. Errors: ConfigError. */
async function listen(server: Server, port: number, host: string, name: string, orFree = false): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && orFree) return listen(server, 0, host, name);
    if (code === 'EACCES') throw new ConfigError(`${name} ${port} may not be opened by this account; choose one above 1023.`);
    if (code === 'EADDRINUSE') throw new ConfigError(`${name} ${port} is in use on ${host}; choose another, or 0 to have one picked.`);
    throw new ConfigError(`${name} ${port} cannot be opened on HOST ${host}: ${message}.`, { cause: error });
  }
}

/**
 * Starts a worker without routes beside the processes that serve: jobs, ingestion and publishing, and the operators' port. Any number may run; they share one
 * Postgres and one lake. Errors: StartError.
 */
async function startWorkerProcess(given: Config): Promise<RunningServer> {
  const { databaseUrl, baseUrl } = given;
  if (databaseUrl === undefined) throw new ConfigError('A worker needs DATABASE_URL: the Postgres that comes along belongs to npm start.');
  if (baseUrl === undefined) throw new ConfigError('A worker needs BASE_URL: letters and links lead there.');
  const context = await createContext({ ...given, iot: { ...given.iot, broker: false } });
  try {
    const admin = createServer(createAdminApp(context));
    const drain = makeDrain(admin);
    await listen(admin, given.adminPort, '127.0.0.1', 'ADMIN_PORT');
    const adminUrl = urlOf(admin, '127.0.0.1');
    const stopWorker = await startWorker(context);
    context.sandbox().catch((error: unknown) => context.log.error({ err: error }, 'the macro sandbox did not open'));
    context.ready = true;
    return {
      context,
      baseUrl,
      adminUrl,
      localUrl: adminUrl,
      stop: async (noticeMs = 0) => {
        context.ready = false;
        await drain(noticeMs);
        await stopWorker();
        await context.close();
      },
    };
  } catch (error) {
    await context.close();
    throw error;
  }
}

/** Starts the service: makes the context and the app of the settings, and listens. */
export async function startServer(config: Config): Promise<RunningServer> {
  const context = await createContext(config);
  try {
    const server = createListener(createApp(context));
    const admin = createServer(createAdminApp(context));
    const drains = [makeDrain(server), makeDrain(admin)];
    await listen(admin, config.adminPort, '127.0.0.1', 'ADMIN_PORT');
    // behind a BASE_URL something else looks for us at the usual port
    await listen(server, config.port ?? USUAL_PORT, config.host, 'PORT', config.port === undefined && config.baseUrl === undefined);
    const localUrl = urlOf(server, { '0.0.0.0': '127.0.0.1', '::': '::1' }[config.host] ?? config.host);
    context.baseUrl = config.baseUrl ?? localUrl;
    const stopBroker = await runBroker(context);
    const stopWorker = config.worker ? await startWorker(context) : undefined;
    if (!config.worker) context.log.warn('WORKER=off: uploads, messages, exports and letters wait until npm run worker runs somewhere');
    // we speak no TLS: something that does stands in front
    if (context.baseUrl.startsWith('https:') && config.web.trustProxyHops === 0)
      context.log.warn(
        'TRUST_PROXY_HOPS=0 behind the proxy of an https BASE_URL: all people have its address, and share SIGN_INS_PER_MINUTE',
      );
    context.sandbox().catch((error: unknown) => context.log.error({ err: error }, 'the macro sandbox did not open'));
    context.ready = true;
    return {
      context,
      baseUrl: context.baseUrl,
      adminUrl: urlOf(admin, '127.0.0.1'),
      localUrl,
      stop: async (noticeMs = 0) => {
        context.ready = false;
        // streams of changes end only when they are told to, and a server that drains waits for them
        await context.changes.stop();
        await Promise.all(drains.map((drain) => drain(noticeMs)));
        await stopBroker();
        await stopWorker?.();
        await context.close();
      },
    };
  } catch (error) {
    await context.close();
    throw error;
  }
}

/** Prints an error with what caused it. */
const printWhole = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const whole = error.stack ?? error.message;
  return error.cause === undefined ? whole : `${whole}\ncaused by ${printWhole(error.cause)}`;
};

/** Says why the service cannot start: a sentence for what a person can mend, the whole error for what we must. */
function explain(error: unknown): void {
  process.stderr.write(`fieldlake cannot start: ${error instanceof StartError ? error.message : printWhole(error)}\n`);
}

const USAGE = `usage:
  npm start                           (the API, the console and, unless WORKER=off, background jobs)
  npm run worker                      (background jobs alone, beside processes that serve)
Settings are environment variables, which README.md lists. SIGTERM or Ctrl-C stops either.
`;

async function main(words: string[]): Promise<void> {
  if (words.some((word) => word === '--help' || word === '-h')) return void process.stdout.write(USAGE);
  const isWorker = words[0] === 'worker';
  const extra = words[isWorker ? 1 : 0];
  if (extra !== undefined)
    throw new StartError(`it takes no arguments, and was given '${extra}'; settings are environment variables, which README.md lists.`);
  // the engine writes its files with this mask: what we make is our owner's alone
  process.umask(0o077);
  const config = readConfig();
  if (config.misspelled !== undefined) process.stdout.write(`${config.misspelled}\n`);
  const starting = (isWorker ? startWorkerProcess : startServer)(config);
  let stopping: Promise<void> | undefined;
  const leaving = new AbortController();
  // Ctrl-C reaches us twice under npm, so the second does not end the process at once
  const stop = (status: 0 | 1) => {
    leaving.abort();
    // what has to stop need not have started
    stopping ??= Promise.race([starting.catch(() => undefined), sleep(START_MS)])
      .then((begun) => begun?.stop(NOTICE_MS))
      .then(
        () => process.exit(status),
        (error: unknown) => {
          explain(error);
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', () => stop(0));
  process.on('SIGINT', () => stop(0));
  // the terminal was closed; where there is none, as with nohup, the service stays
  process.on('SIGHUP', () => (process.stdout.isTTY ? stop(0) : undefined));
  const running = await starting.catch(async (error: unknown) => {
    await stopping;
    throw error;
  });
  if (leaving.signal.aborted) return;
  const { context, baseUrl, adminUrl, localUrl } = running;
  watchFaults({ log: context.log, setReady: (ready) => (context.ready = ready && !stopping), end: () => stop(1) });
  void context.givenUp.then((error) => {
    process.stderr.write(`fieldlake cannot go on: ${error.message}\n`);
    context.log.fatal(error.message);
    context.log.flush(() => process.exit(1));
  });
  // only who works sends them
  const letters = isWorker || context.config.worker ? `Letters (sign-in codes, invitations) go to ${context.mailer.destination}\n` : '';
  if (isWorker) {
    process.stdout.write(`A worker of ${baseUrl} is ready (operators: ${adminUrl}/health/ready)\n${letters}`);
    return;
  }
  process.stdout.write(
    `fieldlake is ready at ${baseUrl} (documentation: ${baseUrl}/docs/api, operators: ${adminUrl}/health/ready)\n${letters}`,
  );
  if (context.config.port === undefined && new URL(localUrl).port !== String(USUAL_PORT))
    process.stdout.write(`It listens on another port than usual, since ${USUAL_PORT} is taken; PORT chooses another.\n`);
  if (context.iot.broker && context.config.iot.port === undefined && context.iot.broker.port !== MQTT_PORT)
    process.stdout.write(`Devices connect to port ${context.iot.broker.port}, since ${MQTT_PORT} is taken; BROKER_PORT chooses another.\n`);
  if (context.config.sampleData && context.config.worker) await offerSample(running, leaving.signal);
}

/** Makes the sample and says how to ask for it. A failure is told, and the service goes on without the sample. */
async function offerSample({ context, baseUrl, adminUrl, localUrl }: RunningServer, signal: AbortSignal): Promise<void> {
  try {
    const quickstart = await prepareSample(context, { localUrl, adminUrl });
    // the link works on this machine only, so that it needs an address of this machine
    if (baseUrl === localUrl) {
      const token = await issueLink(context.db, { userId: quickstart.users.owner.id, target: `/experiments/${quickstart.experimentId}` });
      process.stdout.write(
        `\nOpen the sample in a browser as its owner (works once, for ten minutes):\n${baseUrl}/sign-in/link#${token}\n`,
      );
    }
    process.stdout.write(
      `\nTry these, in this order:\n${printQuickstart(quickstart)}\nThe keys of the whole sample cast are in ${context.config.dataDir}/quickstart.json\n`,
    );
    const library = await loadSeason(quickstart, {
      localUrl,
      signal,
      say: (line) => process.stdout.write(`The sample season: ${line}.\n`),
    });
    await preparePartners(openClient(localUrl, quickstart.users.teammate.apiKey, signal));
    await prepareViews(openClient(localUrl, quickstart.apiKey, signal), quickstart, library);
    process.stdout.write('The sample season: its charts, dashboard, plots and instruments are there.\n');
  } catch (error) {
    if (signal.aborted) return;
    context.log.warn({ err: error }, 'the sample was not made');
    process.stdout.write('The sample could not be made; the service runs without it, and the next start tries again (the log says why).\n');
  }
}

if (import.meta.main)
  main(process.argv.slice(2)).catch((error: unknown) => {
    explain(error);
    process.exit(1);
  });
