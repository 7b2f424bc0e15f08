/** Cuts a Parquet file between its row groups: their bytes are copied as they are, and each file gets a footer of its own. */
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { ColumnRange, PhysicalColumn } from '../../terms/warehouse.ts';
import { findEdges, countNulls, listRanges, type FileEdges } from './ranges.ts';
import { listColumns } from './schema.ts';
import { ThriftReader } from '../../terms/thrift.ts';
import { CompactWriter, findField, findNumber, listStructs, readStruct, type ThriftStruct } from './thrift-compact.ts';

const MAGIC = Buffer.from('PAR1');
const TAIL = 8;
const CHUNK = 1_048_576;

// numbers of fields in the format's own definition
const FILE = { rows: 3, groups: 4 };
const GROUP = { columns: 1, rows: 3, offset: 5, ordinal: 7 };
const COLUMN = { offset: 2, facts: 3, offsetIndex: 4, columnIndex: 6 };
const FACTS = { compressed: 7, data: 9, index: 10, dictionary: 11, bloom: 14, bloomLength: 15 };

const shift = (of: ThriftStruct, id: number, by: number): void => {
  const found = findField(of, id);
  // a writer puts zero where it does not say the place
  if (typeof found?.value === 'bigint' && found.value !== 0n) found.value += BigInt(by);
};

const factsOf = (column: ThriftStruct): ThriftStruct => {
  const facts = findField(column, COLUMN.facts)?.value;
  if (!Array.isArray(facts)) throw new Error('A column of the Parquet file is not described.');
  return facts;
};

/** Finds where the pages of a row group begin and end. The pages of its columns must follow each other. */
const extentOf = (group: ThriftStruct): { start: number; end: number } => {
  const columns = listStructs(group, GROUP.columns).map(factsOf);
  const spans = columns
    .map((facts) => {
      const start = findNumber(facts, FACTS.dictionary) ?? findNumber(facts, FACTS.data) ?? 0;
      return { start, end: start + (findNumber(facts, FACTS.compressed) ?? 0) };
    })
    .sort((a, b) => a.start - b.start);
  if (spans.some(({ start }, index) => index > 0 && start !== spans[index - 1]?.end))
    throw new Error('The columns of a row group do not follow each other.');
  return { start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 };
};

async function footerOf(file: FileHandle): Promise<ThriftStruct> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(TAIL);
  await file.read(tail, 0, TAIL, size - TAIL);
  const length = tail.readUInt32LE(0);
  const footer = Buffer.alloc(length);
  await file.read(footer, 0, length, size - TAIL - length);
  return readStruct(new ThriftReader(footer));
}

async function copyRange(from: FileHandle, to: FileHandle, start: number, end: number): Promise<void> {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, end - start));
  for (let at = start; at < end;) {
    const { bytesRead } = await from.read(chunk, 0, Math.min(chunk.length, end - at), at);
    if (bytesRead === 0) throw new Error('The Parquet file ends before its row group does.');
    await to.appendFile(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** Copies the Bloom filters of a row group's columns behind its pages, and notes their new places. Answers where they end. */
async function copyFilters(from: FileHandle, to: FileHandle, columns: readonly ThriftStruct[], at: number): Promise<number> {
  let place = at;
  for (const facts of columns.map(factsOf)) {
    const [start, length] = [findNumber(facts, FACTS.bloom), findNumber(facts, FACTS.bloomLength)];
    const known = findField(facts, FACTS.bloom);
    if (start === undefined || length === undefined || !known) {
      // a filter of unknown length cannot be copied, so the footer must not name it
      for (const id of [FACTS.bloom, FACTS.bloomLength]) {
        const index = facts.findIndex((each) => each.id === id);
        if (index >= 0) facts.splice(index, 1);
      }
      continue;
    }
    await copyRange(from, to, start, start + length);
    known.value = BigInt(place);
    place += length;
  }
  return place;
}

/** Copies a row group to a place in another file, as the `ordinal`th group there. Answers where it ends. */
async function copyGroup(from: FileHandle, to: FileHandle, group: ThriftStruct, { at, ordinal }: { at: number; ordinal: number }) {
  const { start, end } = extentOf(group);
  const columns = listStructs(group, GROUP.columns);
  const by = at - start;
  shift(group, GROUP.offset, by);
  for (const column of columns) {
    if (findField(column, COLUMN.offsetIndex) ?? findField(column, COLUMN.columnIndex))
      throw new Error('Indexes of pages are not taken along.');
    shift(column, COLUMN.offset, by);
    for (const id of [FACTS.data, FACTS.index, FACTS.dictionary]) shift(factsOf(column), id, by);
  }
  const place = findField(group, GROUP.ordinal);
  if (place) place.value = BigInt(ordinal);
  await copyRange(from, to, start, end);
  return copyFilters(from, to, columns, end + by);
}

async function writeGroups(from: FileHandle, path: string, footer: ThriftStruct, groups: readonly ThriftStruct[]): Promise<void> {
  const to = await open(path, 'wx', 0o600);
  try {
    await to.appendFile(MAGIC);
    let at = MAGIC.length;
    for (const [ordinal, group] of groups.entries()) at = await copyGroup(from, to, group, { at, ordinal });
    const rows = groups.reduce((sum, group) => sum + rowsOf(group), 0);
    const own = footer.map((each) => {
      if (each.id === FILE.rows) return { ...each, value: BigInt(rows) };
      return each.id === FILE.groups ? { ...each, value: { type: 12, items: [...groups] } } : each;
    });
    const bytes = new CompactWriter().struct(own).bytes();
    const tail = Buffer.alloc(TAIL);
    tail.writeUInt32LE(bytes.length, 0);
    MAGIC.copy(tail, 4);
    await to.appendFile(Buffer.concat([bytes, tail]));
  } finally {
    await to.close();
  }
}

const rowsOf = (group: ThriftStruct) => findNumber(group, GROUP.rows) ?? 0;

/** Puts neighbouring row groups together, as long as they have at most `most` rows. One row group stays alone if it has more. */
const together = (groups: readonly ThriftStruct[], most: number): ThriftStruct[][] => {
  const files: ThriftStruct[][] = [];
  let rows = Infinity;
  for (const group of groups) {
    if (rows + rowsOf(group) > most) {
      files.push([]);
      rows = 0;
    }
    files.at(-1)?.push(group);
    rows += rowsOf(group);
  }
  return files;
};

/** A file that a cut made, its columns, and between which values they lie. */
export interface CutFile {
  name: string;
  columns: PhysicalColumn[];
  ranges: ColumnRange[];
  nullCounts: ReadonlyMap<string, number>;
  /** The first and last keys and ids of its rows, where the footer says them. */
  edges: FileEdges | undefined;
}

/** Reads the columns of a Parquet file that the engine wrote. */
export async function readSchema(path: string): Promise<PhysicalColumn[]> {
  const file = await open(path, 'r');
  try {
    return listColumns(await footerOf(file));
  } finally {
    await file.close();
  }
}

/**
 * Cuts a Parquet file into files of at most `rowsPerFile` rows, each of at least one row group: `part_0.parquet` and so on in the same folder, in order. A
 * file that is small enough stays. Answers the files, in order. Throws when it is not laid out as the engine lays files out.
 */
export async function cutRowGroups(
  folder: string,
  name: string,
  { rowsPerFile, sortColumn }: { rowsPerFile: number; sortColumn: string },
): Promise<CutFile[]> {
  const path = join(folder, name);
  const from = await open(path, 'r');
  try {
    const footer = await footerOf(from);
    const files = together(listStructs(footer, FILE.groups), rowsPerFile);
    const columns = listColumns(footer);
    const cut = files.map((groups, index) => ({
      columns,
      name: files.length < 2 ? name : `part_${index}.parquet`,
      ranges: listRanges(footer, groups),
      nullCounts: countNulls(groups),
      edges: findEdges(footer, groups, sortColumn),
    }));
    if (files.length < 2) return cut;
    for (const [index, groups] of files.entries()) await writeGroups(from, join(folder, `part_${index}.parquet`), footer, groups);
    await unlink(path);
    return cut;
  } finally {
    await from.close();
  }
}
