import sanitizeHtml from 'sanitize-html';
import { compare, parse } from 'semver';
import { z } from 'zod';
import type { FirmwareRelease } from './firmware.model.ts';

const https = z.url({ protocol: /^https?$/ });

/** A release of GitHub's as far as it is read. */
const GitHubRelease = z.object({
  tag_name: z.string().min(1).max(255),
  name: z.string().max(1_000).nullable(),
  draft: z.boolean(),
  prerelease: z.boolean(),
  published_at: z.iso.datetime().nullable(),
  html_url: https,
  body_html: z.string().nullish(),
  assets: z.array(z.unknown()).max(1_000),
});
const GitHubAsset = z.object({ name: z.string(), size: z.number().int().min(0), browser_download_url: https });
const GitHubReleases = z.array(z.unknown()).max(100);

/** Keeps the entries that are well-formed. A malformed entry is left out, and does not affect the others. */
const wellFormed = <S extends z.ZodType>(shape: S, entries: readonly unknown[]): z.infer<S>[] =>
  entries.flatMap((entry) => {
    const read = shape.safeParse(entry);
    return read.success ? [read.data] : [];
  });

const ALLOWED: sanitizeHtml.IOptions = {
  allowedTags: 'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a table thead tbody tr th td'.split(' '),
  allowedAttributes: { a: ['href'] },
  allowedSchemes: ['https', 'http', 'mailto'],
  allowProtocolRelative: false,
  transformTags: { a: sanitizeHtml.simpleTransform('a', { rel: 'noopener noreferrer nofollow' }) },
};

const versionOf = (tag: string) => parse(tag.replace(/^[^\d]*/, ''));

/** Reads firmware releases from GitHub's answer, newest published first. Throws when it is not a list of releases. */
export function readReleases(answer: unknown): FirmwareRelease[] {
  const published = wellFormed(GitHubRelease, GitHubReleases.parse(answer)).flatMap((release) =>
    release.draft || release.published_at === null ? [] : [{ ...release, publishedAt: new Date(release.published_at) }],
  );
  const stable = published.flatMap(({ tag_name, prerelease }) => {
    const version = versionOf(tag_name);
    return version && !prerelease && version.prerelease.length === 0 ? [{ tag_name, version }] : [];
  });
  const latest = stable.sort((a, b) => compare(b.version, a.version))[0]?.tag_name;
  return published
    .sort((a, b) => b.publishedAt.getTime() - a.publishedAt.getTime())
    .map((release) => ({
      version: release.tag_name,
      name: release.name === '' ? null : release.name,
      publishedAt: release.publishedAt,
      prerelease: release.prerelease,
      latest: release.tag_name === latest,
      notesHtml: release.body_html ? sanitizeHtml(release.body_html, { ...ALLOWED, allowedAttributes: { a: ['href', 'rel'] } }) : null,
      releaseUrl: release.html_url,
      assets: wellFormed(GitHubAsset, release.assets).map(({ name, size, browser_download_url: downloadUrl }) => ({
        name,
        sizeBytes: size,
        downloadUrl,
      })),
    }));
}
