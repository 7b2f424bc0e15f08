/**
 * Puts what an uploaded file holds where the pipeline on Databricks picks it up: one JSON object a line for each record, each refused record, and, last, the file itself.
 * Records are taken apart by the same code as on one machine; what their values are, and what types their columns have, the pipeline finds out itself.
 */
import { mkdir, rm, copyFile, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { STRING } from '../lakehouse/catalog.ts';
import { literal, type StagingSession } from '../lakehouse/staging.ts';
import { typeText } from '../lakehouse/types.ts';
import { nameColumns } from './columns.ts';
import { exists, put } from './landing-folder.ts';
import { variable } from './pipeline.ts';
import { BufferedFile, FileRefused, Refusals } from './record-writer.ts';
import { readSource } from './sources.ts';
import { fetchOriginal, kindOf, uploadSource, type IngestDeps } from './upload-rows.ts';
import { listUploadFiles, listUploadsToLand, noteLanded, type UploadFileRow, type UploadRow } from './uploads.queries.ts';
import { isDeclared, type BronzeField } from './value-classes.ts';

/** Folders below the landing folder, each with one file for every uploaded file. */
const LANDING_FOLDERS = { files: 'upload_files', records: 'upload_records', refusals: 'upload_refusals' } as const;

interface Landing {
  upload: UploadRow;
  file: UploadFileRow;
  /** Name of the table that the file goes to. */
  tableName: string;
}

interface Landed {
  /** False when it was there already. */
  isNew: boolean;
  records: number;
  refused: number;
}

/** A value with a letter before it that says how it was written: text (t), JSON (n s b j), or a type of the file's own (d). */
function cell({ column, form }: BronzeField): string {
  if (form === 'token') return column;
  return isDeclared(form) ? `'d' || cast(${column} as varchar)` : `'t' || ${column}`;
}

interface Read {
  fields: readonly BronzeField[];
  rows: number;
  refused: number;
  reason: string | null;
  message: string | null;
}

const NOTHING = { fields: [], rows: 0, refused: 0 };

async function readAndWrite(
  deps: IngestDeps,
  session: StagingSession,
  { upload, file }: Landing,
  { work, fileId }: { work: string; fileId: string },
): Promise<Read> {
  // its bytes are gone
  if (file.objectKey === null || (file.status === 'failed' && file.quarantined === 0))
    return { ...NOTHING, reason: file.reason ?? 'not_received', message: file.message ?? 'The file did not arrive whole.' };
  const original = await fetchOriginal(deps, file.objectKey, work);
  const refusedFile = await BufferedFile.create(join(work, 'refused'));
  const refusals = new Refusals(refusedFile);
  try {
    const { fields, rows } = await readSource({
      ...{ session, pipelines: deps.pipelines, kind: kindOf(upload.sourceKind), original, work, path: file.path },
      ...{ refusals, maxRecordBytes: deps.maxRecordBytes, parquetExpansion: deps.parquetExpansion, exact: true },
    });
    await refusedFile.close();
    const names = nameColumns(fields.map(({ key }) => key));
    const members = fields.map((field) => `cast(? as varchar), ${cell(field)}`);
    const to = (name: string) => `to ${literal(join(work, name))} (format json)`;
    await session.prepare([
      variable('file_id', fileId),
      variable('refused', refusedFile.path),
      {
        sql: `copy (select getvariable('file_id') as file_id, fieldlake_row, cast(json_object(${members.join(', ')}) as varchar) as cells from bronze_records) ${to('records.json')}`,
        values: names.map(({ name }) => ({ type: STRING, value: name })),
      },
      {
        sql: `copy (select getvariable('file_id') as file_id, fieldlake_row, cast(line as varchar) as line, cast(byte_offset as varchar) as byte_offset, reason, original_text
          from (${deps.pipelines.quarantinedRecords})) ${to('refusals.json')}`,
        values: [],
      },
    ]);
    return { fields, rows, refused: refusals.count, reason: null, message: null };
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    return { ...NOTHING, reason: error.reason, message: error.message };
  } finally {
    await refusedFile.close().catch(() => undefined);
  }
}

/** Lands one uploaded file below `folder`. One that is there already is left as it is; one that was left half done by a crash is written again. */
async function landFile(deps: IngestDeps, landing: Landing, folder: string): Promise<Landed> {
  const { upload, file } = landing;
  const name = `${upload.id}-${file.ordinal}.json`;
  const headers = join(folder, LANDING_FOLDERS.files);
  if (await exists(join(headers, name))) return { isNew: false, records: 0, refused: 0 };
  const fileId = `${upload.id}/${file.ordinal}`;
  const work = join(deps.staging.workFolder, 'landing', randomUUID());
  await mkdir(work, { recursive: true, mode: 0o700 });
  const session = await deps.staging.session();
  try {
    const read = await readAndWrite(deps, session, landing, { work, fileId });
    const names = nameColumns(read.fields.map(({ key }) => key));
    if (read.reason === null) {
      await put(join(folder, LANDING_FOLDERS.records), name, (path) => copyFile(join(work, 'records.json'), path));
      await put(join(folder, LANDING_FOLDERS.refusals), name, (path) => copyFile(join(work, 'refusals.json'), path));
    }
    const header = {
      file_id: fileId,
      source: file.sha256 === null ? null : uploadSource(upload.tableId, file.sha256, file.path),
      experiment_id: upload.experimentId,
      table_id: upload.tableId,
      table_name: landing.tableName,
      upload_id: upload.id,
      source_kind: upload.sourceKind,
      contributor_id: upload.createdBy,
      path: file.path,
      ordinal: String(file.ordinal),
      uploaded_at: upload.createdAt,
      reason: read.reason,
      message: read.message,
      columns: JSON.stringify(
        read.fields.map(({ form }, index) => ({ position: index, ...names[index], form: isDeclared(form) ? typeText(form) : form })),
      ),
    };
    await put(headers, name, (path) => writeFile(path, `${JSON.stringify(header)}\n`));
    return { isNew: true, records: read.rows, refused: read.refused };
  } finally {
    session.close();
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Lands every file of every upload that has ended, in the order in which they came. Safe to run again, and beside the service. Answers the files that were written, and the
 * records in them.
 */
export async function landUploads(
  deps: IngestDeps,
  folder: string,
): Promise<{ files: number; thereAlready: number; records: number; refused: number }> {
  const total = { files: 0, thereAlready: 0, records: 0, refused: 0 };
  for (const { tableName, ...upload } of await listUploadsToLand(deps.db)) {
    const before = total.files;
    for (const file of await listUploadFiles(deps.db, upload.id)) {
      const landed = await landFile(deps, { upload, file, tableName }, folder);
      if (landed.isNew) total.files += 1;
      else total.thereAlready += 1;
      total.records += landed.records;
      total.refused += landed.refused;
    }
    if (total.files > before) await noteLanded(deps.db, upload.id);
  }
  return total;
}
