declare module 'parquetjs-lite' {
  export class ParquetReader {
    static openBuffer(bytes: Buffer): Promise<ParquetReader>;
    getCursor(): { next(): Promise<Record<string, unknown> | null> };
    /** An 8-byte integer of the package's own kind. */
    getRowCount(): object;
    getSchema(): { fields: Record<string, unknown> };
  }
}
