import { writeLetter, type Written } from './frame.ts';

export interface TransferRequestedData {
  firstName: string;
  platform: string;
  /** Id of the project on the other platform. */
  project: string;
}

/** Confirms that somebody asked for a project of another platform. */
export const writeTransferRequested = ({ firstName, platform, project }: TransferRequestedData): Written =>
  writeLetter({
    subject: `We will bring your ${platform} project over`,
    paragraphs: [`Dear ${firstName},`, `We have your request for project ${project} of ${platform}. We will write again when it is here.`],
    footer: 'You receive this because you asked for a project on fieldlake.',
  });

export interface ProjectImportedData {
  firstName: string;
  experiment: string;
  url: string;
}

/** Says that a project is here. */
export const writeProjectImported = ({ firstName, experiment, url }: ProjectImportedData): Written =>
  writeLetter({
    subject: 'Your project is here',
    paragraphs: [`Dear ${firstName},`, `Your project is now the experiment "${experiment}".`],
    action: { label: 'Open it', url },
    footer: 'You receive this because a project of yours was brought over to fieldlake.',
  });
