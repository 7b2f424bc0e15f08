import { words } from '../words.ts';
import type { UploadReport } from './queries.ts';

const MOODS: Readonly<Record<UploadReport['status'], '' | 'good' | 'warn'>> = {
  pending: '',
  running: '',
  completed: 'good',
  partial: 'warn',
  failed: 'warn',
};

/** How far an upload or a file is. */
export const StatusTag = ({ status }: Pick<UploadReport, 'status'>) => (
  <span className={`tag ${MOODS[status]}`}>{words.upload.status[status]}</span>
);
