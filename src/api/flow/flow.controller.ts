import type { Request as HttpRequest } from 'express';
import { Body, Get, Path, Post, Put, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { errors } from '../../errors.ts';
import { expectedVersions, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { Flow, FlowGraph, FlowReplacement } from './flow.model.ts';
import { findFlow } from './flow.queries.ts';
import { changeFlow, createFlow } from './flow.service.ts';

@Route('api/v1/experiments/{id}/flow')
@Tags('Flow')
export class FlowController extends ApiController {
  /** The flow of an experiment. */
  @Get()
  @Security('caller', ['experiment:read'])
  public async get(@Path() id: string): Promise<Flow> {
    const found = await findFlow(this.ctx.db, id);
    if (!found) throw errors.flowNotFound();
    const { version, ...flow } = found;
    return tagged(this.response, flow, version);
  }

  /**
   * Gives an experiment its flow: at least one node, exactly one of them the start, every edge between nodes that exist, and question names
   * whose canonical forms differ from each other and from the columns of every measurement.
   */
  @Post()
  @Security('caller', ['experiment:manage'])
  @SuccessResponse(201, 'Created')
  public async create(@Path() id: string, @Body() body: FlowGraph): Promise<Flow> {
    this.setStatus(201);
    const { version, ...flow } = await createFlow(this.ctx, this.caller, id, body);
    return tagged(this.response, flow, version);
  }

  /** Replaces the flow. */
  @Put()
  @Security('caller', ['experiment:manage'])
  public async replace(@Request() request: HttpRequest, @Path() id: string, @Body() body: FlowReplacement): Promise<Flow> {
    const { version, ...flow } = await changeFlow(this.ctx, this.caller, id, body, expectedVersions(request));
    return tagged(this.response, flow, version);
  }
}
