declare module 'parquetjs-lite' {
  export class ParquetReader {
    static openBuffer(bytes: Buffer): Promise<ParquetReader>;
    getCursor(): { next(): Promise<Record<string, unknown> | null> };
    getRowCount(): number;
    getSchema(): { fields: Record<string, unknown> };
  }
}
