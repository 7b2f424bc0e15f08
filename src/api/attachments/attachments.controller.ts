import { Body, Path, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { Experiment, NewExperiment } from '../experiments/experiments.model.ts';
import type { WorkbookAttachment, WorkbookPin, WorkbookVersionChoice } from '../workbooks/workbooks.model.ts';
import { attachWorkbook, chooseVersion, createExperiment, detachWorkbook, upgradeWorkbook } from './attachments.service.ts';

@Route('api/v1/experiments')
@Tags('Experiments')
export class AttachmentsController extends ApiController {
  /**
   * For everybody who is signed in: in an organization of yours, or else in your personal workspace. It is private unless stated otherwise. With
   * `workbookId`, that workbook is attached to it, or nothing is created. Refused with NOT_A_MEMBER (403) for an organization of others,
   * MEMBER_UNKNOWN when one of the members is no active user, EMBARGO_OF_PUBLIC for an embargo on a public experiment, and EMBARGO_OUT_OF_RANGE
   * (400).
   * @summary Create an experiment
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async createExperiment(@Body() body: NewExperiment): Promise<Experiment> {
    return createExperiment(this.ctx, this.caller, body);
  }

  /**
   * Only for owners and admins of the experiment. You must be able to read the workbook. The experiment follows it as it is now: its latest version
   * when it has not changed since, else a new one; the flow is written from the version's cells. A workbook that uses something you may not read
   * refuses with WORKBOOK_NOT_PUBLISHABLE (403), one whose protocols and macros have more than 5,000,000 bytes of code with WORKBOOK_TOO_LARGE, an
   * archived experiment with EXPERIMENT_ARCHIVED (409).
   * @summary Attach a workbook to an experiment
   */
  @Post('{id}/workbook/attach')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async attachWorkbook(@Path() id: string, @Body() body: WorkbookAttachment): Promise<WorkbookPin> {
    return attachWorkbook(this.ctx, this.caller, id, body.workbookId);
  }

  /**
   * Only for owners and admins of the experiment. When the workbook has changed since its latest version, a new version is made and followed; any
   * number of upgrades at once make one. Without a workbook it refuses with NO_WORKBOOK_ATTACHED (400), an archived experiment with
   * EXPERIMENT_ARCHIVED (409).
   * @summary Follow the attached workbook as it is now
   */
  @Post('{id}/workbook/upgrade')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async upgradeAttachedWorkbook(@Path() id: string): Promise<WorkbookPin> {
    return upgradeWorkbook(this.ctx, this.caller, id);
  }

  /**
   * Only for owners and admins of the experiment. The experiment follows that version, back or forward, and its flow is written anew; no version is
   * made. Refused with NO_WORKBOOK_ATTACHED (400) without a workbook, WORKBOOK_VERSION_NOT_FOUND (404) for a version of another one, and
   * EXPERIMENT_ARCHIVED (409).
   * @summary Choose a version of the attached workbook
   */
  @Post('{id}/workbook/version')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async chooseWorkbookVersion(@Path() id: string, @Body() body: WorkbookVersionChoice): Promise<WorkbookPin> {
    return chooseVersion(this.ctx, this.caller, id, body.versionId);
  }

  /**
   * Only for owners and admins of the experiment. Takes the workbook and its flow away; the version stays named in `workbookVersionId` as history.
   * Without a workbook it refuses with NO_WORKBOOK_ATTACHED (400), an archived experiment with EXPERIMENT_ARCHIVED (409).
   * @summary Detach the workbook from an experiment
   */
  @Post('{id}/workbook/detach')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async detachWorkbook(@Path() id: string): Promise<Experiment> {
    return detachWorkbook(this.ctx, this.caller, id);
  }
}
