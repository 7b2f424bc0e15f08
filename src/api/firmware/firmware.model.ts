export type FirmwareFamily = 'ambyte' | 'minipar' | 'ambit';

export interface FirmwareAsset {
  name: string;
  sizeBytes: number;
  downloadUrl: string;
}

export interface FirmwareRelease {
  /** The tag. */
  version: string;
  name: string | null;
  publishedAt: Date;
  prerelease: boolean;
  /** The highest version that is not a prerelease. */
  latest: boolean;
  /** Sanitised HTML; null without notes. */
  notesHtml: string | null;
  releaseUrl: string;
  assets: FirmwareAsset[];
}

export interface FirmwareReleases {
  releases: FirmwareRelease[];
}
