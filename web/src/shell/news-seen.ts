import { queryOptions } from '@tanstack/react-query';
import { bodyOf } from '../../../clients/typescript/src/client.ts';
import { api, queryClient } from '../api.ts';
import { NEWS } from './news.ts';

const SEEN = ['news-seen'];

/** When the caller last looked at what is new; null if never. */
export const seenQuery = queryOptions({
  queryKey: SEEN,
  queryFn: async ({ signal }) => (await bodyOf(api.GET('/api/v1/whats-new/seen', { signal }))).lastSeenAt,
});

/** Notes that the caller has looked. What is shown as new stays so until it is asked for again. */
export async function noteSeen(): Promise<void> {
  await api.POST('/api/v1/whats-new/seen');
  await queryClient.invalidateQueries({ queryKey: SEEN, refetchType: 'none' });
}

/** Whether something of a day came after the caller looked; false while that is not known. */
export const isUnseen = (day: string, seenAt: string | null | undefined): boolean =>
  seenAt !== undefined && (seenAt === null || Date.parse(seenAt) < Date.parse(day));

export const hasUnseen = (seenAt: string | null | undefined): boolean => NEWS.some(({ day }) => isUnseen(day, seenAt));
