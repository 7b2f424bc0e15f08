import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Put, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { capabilitiesOf } from '../../authorization/access.ts';
import { errors } from '../../errors.ts';
import { expectedVersions, listed, mostCounted, pageOf, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { MacroProtocolLink, MacroProtocolLinks } from '../resources/links.model.ts';
import { linkProtocols, protocolsOfMacro, unlink } from '../resources/links.service.ts';
import type { VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';
import { filterOf, removeLibraryResource, setLibraryVisibility } from '../resources/resources.service.ts';
import { executeBatch, executeMacro } from './execution.service.ts';
import type {
  Macro,
  MacroBatch,
  MacroBatchResult,
  MacroListQuery,
  MacroPatch,
  MacroRun,
  MacroRunResult,
  NewMacro,
} from './macros.model.ts';
import { countMacros, findMacro, listMacros } from './macros.queries.ts';
import { changeMacro, createMacro } from './macros.service.ts';

@Route('api/v1/macros')
@Tags('Macros')
export class MacrosController extends ApiController {
  /** Lists macros, curated ones first and then by name; with `search`, best match first. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: MacroListQuery): Promise<Macro[]> {
    const filter = { ...filterOf(this.caller.userId, query), language: query.language };
    const page = pageOf(query);
    const [found, total] = await Promise.all([
      listMacros(this.ctx.db, filter, page),
      countMacros(this.ctx.db, filter, mostCounted(request)),
    ]);
    const rows = found.map(({ version: _version, ...macro }) => macro);
    return listed(request, this.response, { rows, total }, page);
  }

  /** Creates a macro, private unless stated otherwise, in an organization of yours or your personal workspace. */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewMacro): Promise<Macro> {
    this.setStatus(201);
    return createMacro(this.ctx, this.caller, body);
  }

  /**
   * Runs up to 5,000 items, of any macros that you may read, and answers one result an item, in order. A macro that you may not read looks like
   * one that does not exist. `workbook_version_id` runs the code that a workbook version keeps.
   */
  @Post('execute-batch')
  @Security('caller')
  @SuccessResponse(200, 'Ok')
  public async executeBatch(@Body() body: MacroBatch): Promise<MacroBatchResult> {
    return executeBatch(this.ctx, this.caller, body, this.exchange.signal);
  }

  /** Runs the macro over one input. What goes wrong inside is a result: `success` is false and `error` says why. */
  @Post('{id}/execute')
  @Security('caller', ['macro:read'])
  @SuccessResponse(200, 'Ok')
  public async execute(@Path() id: string, @Body() body: MacroRun): Promise<MacroRunResult> {
    return executeMacro(this.ctx, this.caller, id, body, this.exchange.signal);
  }

  /** One macro, and what you may do with it. */
  @Get('{id}')
  @Security('caller', ['macro:read'])
  public async get(@Path() id: string): Promise<Macro> {
    const [found, capabilities] = await Promise.all([
      findMacro(this.ctx.db, id),
      capabilitiesOf(this.ctx.db, this.caller.userId, 'macro', id),
    ]);
    if (!found) throw errors.resourceNotFound('macro');
    const { version, ...macro } = found;
    return tagged(this.response, { ...macro, capabilities }, version);
  }

  /** Changes what is given; absent fields keep their value. */
  @Put('{id}')
  @Security('caller', ['macro:update'])
  public async update(@Request() request: HttpRequest, @Path() id: string, @Body() body: MacroPatch): Promise<Macro> {
    const { version, ...macro } = await changeMacro(this.ctx, this.caller, id, body, expectedVersions(request));
    return tagged(this.response, macro, version);
  }

  /** Deletes a macro. Workbook versions keep what it said; cells that name it are left dangling. */
  @Delete('{id}')
  @Security('caller', ['macro:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string): Promise<null> {
    return removeLibraryResource(this.ctx, this.caller, { type: 'macro', id }, expectedVersions(request));
  }

  /** Makes a macro public. There is no way back. */
  @Patch('{id}/visibility')
  @Security('caller', ['macro:manage'])
  public async publish(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setLibraryVisibility(this.ctx, this.caller, { type: 'macro', id }, body.visibility);
  }

  /** Protocols that are linked to the macro and that you may read, by name. */
  @Get('{id}/protocols')
  @Security('caller', ['macro:read'])
  public async protocols(@Path() id: string): Promise<MacroProtocolLink[]> {
    return protocolsOfMacro(this.ctx.db, this.caller.userId, id);
  }

  /** Links protocols that you may read, and answers those links. All of them, or none. */
  @Post('{id}/protocols')
  @Security('caller', ['macro:update'])
  @SuccessResponse(201, 'Created')
  public async link(@Path() id: string, @Body() body: MacroProtocolLinks): Promise<MacroProtocolLink[]> {
    this.setStatus(201);
    return linkProtocols(this.ctx, this.caller, id, body.protocolIds);
  }

  /** Takes a link away; one that is not there is no error. */
  @Delete('{id}/protocols/{protocolId}')
  @Security('caller', ['macro:update'])
  public async unlink(@Path() id: string, @Path() protocolId: string): Promise<null> {
    return unlink(this.ctx, this.caller, { type: 'macro', macroId: id, protocolId });
  }
}
