import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { CodeLanguage } from '../code/language.ts';
import type { Draft } from './draft.ts';
import type { Kind } from './kinds.ts';
import type { Shared } from './queries.ts';
import { VersionsPanel, type Version } from './versions.tsx';

interface CodeVersionsProps<T> {
  kind: Kind;
  item: Shared & { codeVersion: number };
  draft: Draft<T>;
  languageOf: (text: T) => CodeLanguage;
  /** All versions, newest first. */
  list: (id: string, signal: AbortSignal) => Promise<Version[]>;
  /** What it said at a version, which never changes. */
  read: (id: string, version: number, signal: AbortSignal) => Promise<T>;
}

/** The versions of the code of a macro or of a protocol, two of them compared as the address says. */
export function CodeVersions<T extends { code: string }>({ kind, item, draft, languageOf, list, read }: CodeVersionsProps<T>) {
  const { id, codeVersion, capabilities } = item;
  const { before = Math.max(1, codeVersion - 1), after } = useSearch({ strict: false });
  const navigate = useNavigate();
  const versions = useQuery({ queryKey: [kind, id, 'versions'], queryFn: ({ signal }) => list(id, signal) });
  const versionQuery = (version: number) => ({
    queryKey: [kind, id, 'version', version],
    queryFn: ({ signal }: { signal: AbortSignal }) => read(id, version, signal),
    staleTime: Infinity,
  });
  const old = useQuery(versionQuery(before));
  const newer = useQuery({ ...versionQuery(after ?? 1), enabled: after !== undefined });
  const next = after === undefined ? draft.value : newer.data;
  const { data } = old;
  return (
    <VersionsPanel
      versions={versions.data}
      before={before}
      after={after}
      old={data?.code}
      next={next?.code}
      language={languageOf(next ?? draft.value)}
      error={versions.error ?? old.error ?? newer.error}
      choose={(which, version) =>
        void navigate({ to: '.', search: (now) => ({ ...now, [which]: version }), replace: true, resetScroll: false })
      }
      take={capabilities?.canUpdate !== true || data === undefined ? undefined : () => draft.change(data)}
    />
  );
}
