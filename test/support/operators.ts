import type { TestServer } from './server.ts';

/** What a ready service tells operators of its parts, as far as tests ask. */
export interface Details {
  warehouse: {
    /** Statements that the engine of reads runs, that of exports runs, and that wait for their turn. */
    running: number;
    exporting: number;
    waiting: number;
    answers: { answers: number; bytes: number; hits: number; misses: number };
  };
  /** By language. */
  macros: Record<string, { level: string }>;
}

export async function detailsOf({ server }: Pick<TestServer, 'server'>): Promise<Details> {
  const answer = await fetch(`${server.adminUrl}/health/ready`);
  const { details } = (await answer.json()) as { details: Record<string, { detail?: unknown }> };
  return Object.fromEntries(Object.entries(details).map(([name, { detail }]) => [name, detail])) as unknown as Details;
}

/** Statements that the service has sent to Postgres since it started, by label. */
export async function statementsOf({ server }: Pick<TestServer, 'server'>): Promise<Map<string, number>> {
  const text = await (await fetch(`${server.adminUrl}/metrics`)).text();
  const counts = text.matchAll(/^postgres_statement_duration_seconds_count\{label="([^"]*)"\} (\d+)$/gm);
  return new Map([...counts].map(([, label = '', count]) => [label, Number(count)]));
}
