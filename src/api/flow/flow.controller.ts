import { Body, Get, Path, Post, Put, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors, refuse } from '../../errors.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Flow, FlowGraph, FlowReplacement } from './flow.model.ts';
import { findFlow } from './flow.queries.ts';
import { changeFlow, createFlow } from './flow.service.ts';

@Route('api/v1/experiments/{id}/flow')
@Tags('Workbooks and flows')
export class FlowController extends ApiController {
  /**
   * For everybody who may read the experiment. Answers the steps that a person walks through in the field. Without a flow it is FLOW_NOT_FOUND (404).
   * @summary Read the flow of an experiment
   */
  @Get()
  @Security('caller', ['experiment:read'])
  public async getFlow(@Path() id: string): Promise<Flow> {
    return this.answer((await findFlow(this.ctx.db, id)) ?? refuse(errors.flowNotFound()));
  }

  /**
   * Only for owners and admins of the experiment. A flow has at least one node, exactly one of them the start, every edge between nodes that exist,
   * and question names whose canonical forms differ from each other and from the columns of every measurement; else INVALID_INPUT (400). Refused with
   * FLOW_EXISTS when there is one, and EXPERIMENT_ARCHIVED (409).
   * @summary Give an experiment a flow
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async createFlow(@Path() id: string, @Body() body: FlowGraph): Promise<Flow> {
    return this.answer(await createFlow(this.ctx, this.caller, id, body));
  }

  /**
   * Only for owners and admins of the experiment. The same is checked as of a new flow. Without a flow it is FLOW_NOT_FOUND (404). With `If-Match`, a
   * newer version refuses with PRECONDITION_FAILED (412). An archived experiment refuses with EXPERIMENT_ARCHIVED (409).
   * @summary Replace the flow of an experiment
   */
  @Put()
  @Security('caller', ['experiment:manage'])
  public async replaceFlow(@Path() id: string, @Body() body: FlowReplacement): Promise<Flow> {
    return this.answer(await changeFlow(this.ctx, this.caller, this.readTarget({ id }), body));
  }
}
