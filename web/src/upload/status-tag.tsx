import { words } from '../words.ts';
import type { UploadReport } from './queries.ts';

const MOODS: Readonly<Record<UploadReport['status'], '' | 'good' | 'warn'>> = {
  pending: '',
  running: '',
  completed: 'good',
  partial: 'warn',
  failed: 'warn',
};

/** How far an upload or a file is, or that the upload was taken back. */
export const StatusTag = ({ status, withdrawnAt = null }: Pick<UploadReport, 'status'> & Partial<Pick<UploadReport, 'withdrawnAt'>>) =>
  withdrawnAt === null ? (
    <span className={`tag ${MOODS[status]}`}>{words.upload.status[status]}</span>
  ) : (
    <span className="tag">{words.upload.withdrawn}</span>
  );
