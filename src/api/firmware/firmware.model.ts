/** Kind of instrument that firmware is published for. */
export type FirmwareFamily = 'ambyte' | 'minipar' | 'ambit';

/** A file of a release. */
export interface FirmwareAsset {
  /** Name of the file. */
  name: string;
  /** Bytes of the file. */
  sizeBytes: number;
  /** Where the file can be fetched. */
  downloadUrl: string;
}

/** A published version of firmware. */
export interface FirmwareRelease {
  /** The release's tag. */
  version: string;
  /** What its makers call it; null without a name. */
  name: string | null;
  /** When it was published, in UTC. */
  publishedAt: Date;
  /** Whether its makers call it a prerelease. */
  prerelease: boolean;
  /** The highest version that is not a prerelease. */
  latest: boolean;
  /** Sanitised HTML; null without notes. */
  notesHtml: string | null;
  /** Page of the release. */
  releaseUrl: string;
  /** Files of the release. */
  assets: FirmwareAsset[];
}

/** Published firmware of a family. */
export interface FirmwareReleases {
  /** Newest first. */
  releases: FirmwareRelease[];
}
