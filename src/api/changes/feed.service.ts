import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Caller } from '../../auth/caller.ts';
import type { Queryable } from '../../database/database.ts';
import { errors } from '../../errors.ts';
import { Tally } from '../../tally.ts';
import type { Audience, Reset } from './changes.model.ts';
import {
  findHorizon,
  listChanges,
  listReadableDevices,
  listStandings,
  type ChangeRow,
  type Standing,
  type StandingQuestion,
} from './changes.queries.ts';
import { printPosition, readPosition, type Position } from './position.ts';

/** How long changes are kept, in hours. A `Last-Event-ID` is accepted for one hour less. */
export const KEPT_HOURS = 25;
const RESUMABLE_SECONDS = (KEPT_HOURS - 1) * 3_600;
/** Time between two looks. */
const LOOK_MS = 500;
/** No listener goes for longer without a new check of whether they may still listen. */
const RECHECK_MS = 5_000;
/** Proxies on the way cut a connection that is silent for longer. */
const QUIET_MS = 15_000;
/** A listener with more changes to hear at once is told to read anew instead. */
const MOST_BEHIND = 200;
/** How many lanes one statement asks about. These lanes and their changes are what a look holds in memory. */
const LANES_AT_ONCE = 50;
const QUESTIONS_AT_ONCE = 500;
/** How many listeners are told in one turn of the event loop. Telling a thousand took 60 ms. */
const TOLD_AT_ONCE = 50;
const MOST_OF_CALLER = 20;
/** Bytes that a listener may leave unread before it is cut. */
const MOST_UNREAD = 262_144;

/** The connection of somebody who listens. */
export interface Line {
  send(bytes: Buffer): void;
  /** Bytes that were sent and not taken yet. */
  unread(): number;
  /** Ends the stream as it should end. */
  end(): void;
  /** Ends it at once, whatever is unread. */
  cut(): void;
}

type Why = 'revoked' | 'slow' | 'stopping';

interface Listener {
  line: Line;
  question: StandingQuestion;
  /** Undefined until the next look gives it one. */
  position: Position | undefined;
  /** The `Last-Event-ID` that the listener came with. */
  lastEventId: string | undefined;
  checkedAt: number;
  sentAt: number;
  /** Gives the place of the caller back. */
  leave: () => void;
}

interface Letter {
  listener: Listener;
  bytes: Buffer;
}

const eventText = (kind: string, id: Position, data: string) => `event: ${kind}\nid: ${printPosition(id)}\ndata: ${data}\n\n`;
const resetText = (reason: Reset['reason'], id: Position) => eventText('reset', id, JSON.stringify({ reason } satisfies Reset));

/** Which listeners are told of a change, by its audience. */
const IS_TOLD: Record<Audience, (standing: Standing, readsDevice: () => boolean) => boolean> = {
  read: ({ read }) => read,
  contribute: ({ contribute }) => contribute,
  manage: ({ manage }) => manage,
  related: ({ related }) => related,
  device: ({ related }, readsDevice) => related && readsDevice(),
};

function* parts<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

interface FeedOptions {
  db: Queryable;
  /** The connections for checking whether listeners may still listen. */
  admission: Queryable;
  log: Logger;
  registry: Registry;
  /** Most listeners of this process. */
  most: number;
}

/**
 * Tells listeners what happens in experiments. One look every half second asks Postgres for all listeners, however many they are. A listener holds no database
 * connection, no request's place and no share of an engine. Before anybody is told a change, it is checked anew whether they may know it.
 */
export class ChangeFeed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<Listener>();
  readonly #byUser = new Tally();
  readonly #cuts: Counter<'why'>;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isStopping = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    const listeners = this.#listeners;
    new Gauge({
      name: 'change_listeners',
      help: 'Listeners to the changes of experiments.',
      registers: [options.registry],
      collect() {
        this.set(listeners.size);
      },
    });
    this.#cuts = new Counter({
      name: 'change_listeners_cut_total',
      help: 'Listeners whose streams this process ended, by why.',
      labelNames: ['why'],
      registers: [options.registry],
    });
  }

  /** Refuses a listener for whom there is no place. Errors: tooManyListeners (429), overloaded (503). */
  requirePlace(userId: string): void {
    const retryAfter = 5 + Math.floor(Math.random() * 10);
    if (this.#byUser.of(userId) >= Math.min(MOST_OF_CALLER, Math.ceil(this.#options.most / 2)))
      throw errors.tooManyListeners().with({ retryAfter });
    if (this.#listeners.size >= this.#options.most) throw errors.overloaded().with({ retryAfter });
  }

  /** Tells a caller who may read the experiment what happens in it, from the event on that `lastEventId` names. Answers the function that ends this. */
  listen(caller: Caller, experimentId: string, line: Line, lastEventId: string | undefined): () => void {
    if (this.#isStopping) {
      line.end();
      return () => undefined;
    }
    const { userId, via } = caller;
    const credential = via.kind === 'key' ? { kind: via.kind, id: via.keyId } : { kind: via.kind, id: via.sessionId };
    const now = performance.now();
    const listener = {
      line,
      question: { credential, userId, experimentId },
      position: undefined,
      lastEventId,
      checkedAt: now,
      sentAt: now,
      leave: this.#byUser.hold(userId),
    };
    this.#listeners.add(listener);
    if (this.#listeners.size === 1 && !this.#looking) this.#plan(0);
    return () => this.#forget(listener);
  }

  /** Ends every stream, so that listeners connect again, to another process or later to this one. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    for (const listener of this.#listeners) this.#end(listener, 'stopping');
    await this.#looking;
  }

  #forget(listener: Listener): void {
    this.#listeners.delete(listener);
    listener.leave();
  }

  #end(listener: Listener, why: Why): void {
    if (!this.#listeners.has(listener)) return;
    this.#forget(listener);
    this.#cuts.inc({ why });
    if (why === 'slow') listener.line.cut();
    else listener.line.end();
  }

  #plan(milliseconds: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopping || this.#listeners.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look()
        .catch((error: unknown) => this.#options.log.warn({ err: error }, 'those who listen could not be told what happened'))
        .finally(() => {
          this.#looking = undefined;
          this.#plan(LOOK_MS);
        });
    }, milliseconds);
  }

  /** Tells every listener what happened since the last look. What could not be told waits for the next look. */
  async #look(): Promise<void> {
    const horizon = await findHorizon(this.#options.db);
    if (!horizon) return;
    for (const listener of this.#listeners) if (listener.position?.epoch !== horizon.epoch) this.#place(listener, horizon);
    for (const lanes of parts(this.#lanesBefore(horizon), LANES_AT_ONCE)) await this.#tell(lanes, horizon);
    const due = performance.now() - RECHECK_MS;
    await this.#check([...this.#listeners].filter(({ checkedAt }) => checkedAt < due));
    const quiet = performance.now() - QUIET_MS;
    // an id alone is no event, but it lets a browser go on from here after hours without events
    const beats = [...this.#listeners].flatMap((listener) =>
      listener.position && listener.sentAt < quiet
        ? [{ listener, bytes: Buffer.from(`: nothing new\nid: ${printPosition(listener.position)}\n\n`) }]
        : [],
    );
    await this.#sendAll(beats);
  }

  /** Puts a listener at the position that it names, or else at the horizon. Called when a listener begins, and when the epoch has changed. */
  #place(listener: Listener, horizon: Position): void {
    const named = listener.lastEventId === undefined ? undefined : readPosition(listener.lastEventId);
    const isKnown =
      named !== undefined &&
      named.epoch === horizon.epoch &&
      BigInt(named.xid) <= BigInt(horizon.xid) &&
      named.at > horizon.at - RESUMABLE_SECONDS;
    const isFirst = listener.position === undefined && listener.lastEventId === undefined;
    listener.position = isKnown ? named : horizon;
    if (!isKnown) this.#send(listener, Buffer.from(resetText(isFirst ? 'begun' : 'forgotten', horizon)));
  }

  /** Groups the listeners that are not at the horizon into lanes: those at the same position of the same experiment. */
  #lanesBefore(horizon: Position): Listener[][] {
    const behind = [...this.#listeners].filter(({ position }) => position && (position.xid !== horizon.xid || position.n !== 0));
    return [...Map.groupBy(behind, ({ question, position }) => `${question.experimentId} ${position?.xid} ${position?.n}`).values()];
  }

  /** Tells the listeners of each lane what happened after their position and before the horizon, as far as they may know it. Then moves them to the horizon. */
  async #tell(lanes: readonly Listener[][], horizon: Position): Promise<void> {
    const asked = lanes.flatMap(([first]) =>
      first?.position ? [{ experimentId: first.question.experimentId, position: first.position }] : [],
    );
    const rows = await listChanges(this.#options.db, asked, horizon.xid, MOST_BEHIND + 1);
    const byLane = Map.groupBy(rows, ({ lane }) => lane - 1);
    const standings = await this.#check([...byLane.keys()].flatMap((lane) => lanes[lane] ?? []));
    const readable = await this.#devicesOf(standings, rows);
    const letters: Letter[] = [];
    for (const [at, lane] of lanes.entries()) {
      const changes = byLane.get(at) ?? [];
      const texts = changes.map(({ kind, xid, n, data }) => eventText(kind, { ...horizon, xid, n }, data));
      const reset = Buffer.from(changes.length > MOST_BEHIND ? resetText('behind', horizon) : '');
      // listeners who are told the same share its bytes
      const told = new Map<string, Buffer>();
      for (const listener of lane) {
        const standing = standings.get(listener);
        listener.position = horizon;
        if (!standing) continue;
        const devices = readable.get(listener.question.userId);
        const seen = changes.map(({ audience, deviceId }) => IS_TOLD[audience](standing, () => devices?.has(deviceId ?? '') === true));
        const key = seen.map(Number).join('');
        const bytes = told.get(key) ?? Buffer.from(texts.filter((_, index) => seen[index]).join(''));
        told.set(key, bytes);
        if (reset.length > 0) letters.push({ listener, bytes: reset });
        else if (bytes.length > 0) letters.push({ listener, bytes });
      }
    }
    await this.#sendAll(letters);
  }

  /** Checks anew what listeners may know. Ends the streams of those who may no longer listen, and answers the standings of the others. */
  async #check(listeners: readonly Listener[]): Promise<Map<Listener, Standing>> {
    const alike = Map.groupBy(listeners, ({ question: { credential, experimentId } }) => `${credential.id} ${experimentId}`);
    const standings = new Map<Listener, Standing>();
    for (const groups of parts([...alike.values()], QUESTIONS_AT_ONCE)) {
      const found = await listStandings(
        this.#options.admission,
        groups.flatMap(([first]) => first?.question ?? []),
      );
      for (const [at, group] of groups.entries())
        for (const listener of group) {
          const standing = found[at];
          listener.checkedAt = performance.now();
          if (standing?.read !== true) this.#end(listener, 'revoked');
          else if (this.#listeners.has(listener)) standings.set(listener, standing);
        }
    }
    return standings;
  }

  /** Finds, for each person, those of the changed devices that they may read. */
  async #devicesOf(standings: ReadonlyMap<Listener, Standing>, rows: readonly ChangeRow[]): Promise<ReadonlyMap<string, Set<string>>> {
    const devices = new Set(rows.flatMap(({ audience, deviceId }) => (audience === 'device' ? (deviceId ?? []) : [])));
    const people = new Set([...standings].flatMap(([{ question }, { related }]) => (related ? question.userId : [])));
    if (devices.size === 0 || people.size === 0) return new Map();
    const found = await listReadableDevices(this.#options.admission, [...people], [...devices]);
    return new Map(found.map(({ userId, deviceIds }) => [userId, new Set(deviceIds)]));
  }

  async #sendAll(letters: readonly Letter[]): Promise<void> {
    for (const some of parts(letters, TOLD_AT_ONCE)) {
      for (const { listener, bytes } of some) this.#send(listener, bytes);
      await turn();
    }
  }

  #send(listener: Listener, bytes: Buffer): void {
    if (!this.#listeners.has(listener)) return;
    if (listener.line.unread() > MOST_UNREAD) {
      this.#end(listener, 'slow');
      return;
    }
    listener.sentAt = performance.now();
    listener.line.send(bytes);
  }
}
