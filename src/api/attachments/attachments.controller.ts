import { Body, Path, Post, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { Experiment, NewExperiment } from '../experiments/experiments.model.ts';
import type { WorkbookAttachment, WorkbookPin, WorkbookVersionChoice } from '../workbooks/workbooks.model.ts';
import { attachWorkbook, chooseVersion, createExperiment, detachWorkbook, upgradeWorkbook } from './attachments.service.ts';

@Route('api/v1/experiments')
@Tags('Experiments')
export class AttachmentsController extends ApiController {
  /**
   * Creates an experiment, private unless stated otherwise, in an organization of yours or your personal workspace. With `workbookId`, that
   * workbook is attached to it, or nothing is created.
   */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewExperiment): Promise<Experiment> {
    this.setStatus(201);
    return createExperiment(this.ctx, this.caller, body);
  }

  /**
   * Attaches a workbook that you may read, as it is now: its latest version when it has not changed since, else a new one. The flow is
   * written from the version's cells.
   */
  @Post('{id}/workbook/attach')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async attach(@Path() id: string, @Body() body: WorkbookAttachment): Promise<WorkbookPin> {
    return attachWorkbook(this.ctx, this.caller, id, body.workbookId);
  }

  /** Follows the attached workbook as it is now. Any number of upgrades at once make one new version. */
  @Post('{id}/workbook/upgrade')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async upgrade(@Path() id: string): Promise<WorkbookPin> {
    return upgradeWorkbook(this.ctx, this.caller, id);
  }

  /** Pins a version of the attached workbook, back or forward. Makes no version. */
  @Post('{id}/workbook/version')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async version(@Path() id: string, @Body() body: WorkbookVersionChoice): Promise<WorkbookPin> {
    return chooseVersion(this.ctx, this.caller, id, body.versionId);
  }

  /** Takes the workbook and its flow away. The version stays named as history. */
  @Post('{id}/workbook/detach')
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(200, 'Ok')
  public async detach(@Path() id: string): Promise<Experiment> {
    return detachWorkbook(this.ctx, this.caller, id);
  }
}
