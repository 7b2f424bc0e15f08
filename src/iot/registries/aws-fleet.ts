/** Who is connected, from AWS's fleet index. */
import { SearchIndexCommand, type IoTClient } from '@aws-sdk/client-iot';
import { runEach } from '../../waiting.ts';
import type { Connectivity } from '../registry.ts';

/** A query may have 1,000 characters. Terms beyond these limits start another one. */
const TERMS = 50;
const CHARACTERS = 900;
const AT_ONCE = 4;

/** Queries that together name every thing once. Names are quoted: colon and hyphen are operators. */
export function printFleetQueries(thingNames: readonly string[]): string[] {
  const queries: string[] = [];
  let terms: string[] = [];
  for (const term of new Set(thingNames.map((name) => `thingName:"${name}"`))) {
    if (terms.length === TERMS || (terms.length > 0 && [...terms, term].join(' OR ').length > CHARACTERS)) {
      queries.push(terms.join(' OR '));
      terms = [];
    }
    terms.push(term);
  }
  return terms.length > 0 ? [...queries, terms.join(' OR ')] : queries;
}

/** Finds which things are connected. Null when any query fails: connectivity is then unknown, which is not an error. */
export async function searchConnectivity(
  client: IoTClient,
  thingNames: readonly string[],
): Promise<ReadonlyMap<string, Connectivity> | null> {
  const found = new Map<string, Connectivity>();
  const search = async (queryString: string) => {
    let nextToken: string | undefined;
    do {
      const answer = await client.send(
        new SearchIndexCommand({ indexName: 'AWS_Things', queryString, maxResults: 100, ...(nextToken ? { nextToken } : {}) }),
      );
      for (const { thingName, connectivity } of answer.things ?? []) {
        if (!thingName || !connectivity) continue;
        found.set(thingName, {
          connected: connectivity.connected === true,
          lastSeenAt: connectivity.timestamp ? new Date(connectivity.timestamp) : null,
        });
      }
      nextToken = answer.nextToken;
    } while (nextToken);
  };
  try {
    await runEach(printFleetQueries(thingNames), AT_ONCE, search);
    return found;
  } catch {
    return null;
  }
}
