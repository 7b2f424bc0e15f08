import { queryOptions } from '@tanstack/react-query';

/** The file with the editor, which is fetched with the first code that is shown. */
export const codemirrorFile = queryOptions({
  queryKey: ['file', 'code/codemirror'],
  queryFn: () => import('./codemirror.ts'),
  staleTime: 'static',
});
