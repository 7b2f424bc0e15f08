import { AsyncResource } from 'node:async_hooks';
import { sent, type Queryable } from './database.ts';
import { sql, type Labelled } from './sql.ts';

/** How questions that come at the same time are asked in one statement. */
interface Gathering<Key, Answer> {
  label: string;
  /** Names a question. Whoever asks a question with the same name before it is sent asks the same. */
  name: (key: Key) => string;
  /** Whether equal questions are asked once and get the same answer. Otherwise each is asked, and a statement has only one of them. */
  shares: boolean;
  /**
   * Sends one labelled statement. Gives the answers by the names of their questions; a missing one means no answer. The statement takes arrays behind a select
   * (`unnest((select $1))`). This hides their length from the planner, which then keeps one plan for all lengths (to plan an admission anew costs 2.5 ms).
   */
  ask: (db: Queryable, keys: readonly Key[], statement: Labelled) => Promise<ReadonlyMap<string, Answer>>;
}

interface Waiting<Key, Answer> {
  key: Key;
  name: string;
  /** The context of the one who asks. The statement is sent in the context of the first, and its label is published in the context of each. */
  asker: AsyncResource;
  resolve: (answer: Answer | undefined) => void;
  reject: (error: unknown) => void;
}

const MOST = 64;
// a connection that has died silently must not hold up everybody
const PATIENCE_MS = 100;

const tellOf = (label: string) => sent.publish(label);

class Queue<Key, Answer> {
  private waiting: Waiting<Key, Answer>[] = [];
  private isUnderWay = false;
  private readonly db: Queryable;
  private readonly how: Gathering<Key, Answer>;

  constructor(db: Queryable, how: Gathering<Key, Answer>) {
    this.db = db;
    this.how = how;
  }

  ask(key: Key): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, name: this.how.name(key), asker: new AsyncResource(this.how.label), resolve, reject });
      if (!this.isUnderWay) this.plan();
    });
  }

  // waits for all who ask in the same turn of the event loop: otherwise the first of ten went alone (1,500 requests a second, 1,900 with the wait)
  private plan(): void {
    this.isUnderWay = true;
    setImmediate(() => this.send());
  }

  private taken(): Map<string, Waiting<Key, Answer>[]> {
    const batch = new Map<string, Waiting<Key, Answer>[]>();
    const left: Waiting<Key, Answer>[] = [];
    for (const one of this.waiting) {
      const same = batch.get(one.name);
      if (same && this.how.shares) same.push(one);
      else if (same || batch.size >= MOST) left.push(one);
      else batch.set(one.name, [one]);
    }
    this.waiting = left;
    return batch;
  }

  private send(): void {
    const batch = this.taken();
    const asked = [...batch.values()].flatMap((all) => all.slice(0, 1));
    const [first] = asked;
    this.isUnderWay = first !== undefined;
    if (!first) return;
    let isLast = true;
    const next = () => {
      if (isLast) this.plan();
      isLast = false;
    };
    const patience = setTimeout(next, PATIENCE_MS);
    const settle = (tell: (one: Waiting<Key, Answer>, name: string) => void) => {
      clearTimeout(patience);
      next();
      for (const [name, all] of batch) for (const one of all) tell(one, name);
    };
    const keys = asked.map(({ key }) => key);
    for (const all of batch.values())
      for (const { asker } of all) if (asker !== first.asker) asker.runInAsyncScope(tellOf, null, this.how.label);
    first.asker
      .runInAsyncScope(() => this.how.ask(this.db, keys, sql(this.how.label)))
      .then(
        (answers) => settle((one, name) => one.resolve(answers.get(name))),
        (error: unknown) => settle((one) => one.reject(error)),
      );
  }
}

/**
 * Makes a function that asks one question, and gathers questions that come at the same time into one statement. A statement has up to 64 questions. It is sent
 * at the end of this turn of the event loop, once the statement before is answered or 100 ms have passed. An answer is never older than its question. An error
 * of the statement fails all its questions, so a question that could fail by itself must be refused before.
 */
export function gatherQuestions<Key, Answer>(how: Gathering<Key, Answer>): (db: Queryable, key: Key) => Promise<Answer | undefined> {
  const queues = new WeakMap<Queryable, Queue<Key, Answer>>();
  return (db, key) => {
    let queue = queues.get(db);
    if (!queue) queues.set(db, (queue = new Queue(db, how)));
    return queue.ask(key);
  };
}
