import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { capabilitiesOf } from '../../authorization/access.ts';
import { errors } from '../../errors.ts';
import { expectedVersions, listed, mostCounted, pageOf, tagged } from '../../http/answers.ts';
import { exactMemberOf } from '../../http/body.ts';
import { ApiController } from '../../http/controllers.ts';
import type { ProtocolMacroLink, ProtocolMacroLinks } from '../resources/links.model.ts';
import { linkMacros, macrosOfProtocol, unlink } from '../resources/links.service.ts';
import type { LibraryListQuery, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';
import { filterOf, removeLibraryResource, setLibraryVisibility } from '../resources/resources.service.ts';
import type { NewProtocol, Protocol, ProtocolPatch } from './protocols.model.ts';
import { countProtocols, findProtocol, listProtocols } from './protocols.queries.ts';
import { createProtocol, patchProtocol, shownProtocol } from './protocols.service.ts';

@Route('api/v1/protocols')
@Tags('Protocols')
export class ProtocolsController extends ApiController {
  /** Lists protocols, curated ones first and then by name; with `search`, best match first. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: LibraryListQuery): Promise<Protocol[]> {
    const filter = filterOf(this.caller.userId, query);
    const page = pageOf(query);
    const [rows, total] = await Promise.all([
      listProtocols(this.ctx.db, filter, page),
      countProtocols(this.ctx.db, filter, mostCounted(request)),
    ]);
    const shown = rows.map(shownProtocol).map(({ version: _version, ...protocol }) => protocol);
    return listed(request, this.response, { rows: shown, total }, page);
  }

  /** Creates a protocol, private unless stated otherwise, in an organization of yours or your personal workspace. */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Request() request: HttpRequest, @Body() body: NewProtocol): Promise<Protocol> {
    this.setStatus(201);
    return createProtocol(this.ctx, this.caller, body, exactMemberOf(request, 'code') ?? 'null');
  }

  /** One protocol, and what you may do with it. */
  @Get('{id}')
  @Security('caller', ['protocol:read'])
  public async get(@Path() id: string): Promise<Protocol> {
    const [found, capabilities] = await Promise.all([
      findProtocol(this.ctx.db, id),
      capabilitiesOf(this.ctx.db, this.caller.userId, 'protocol', id),
    ]);
    if (!found) throw errors.resourceNotFound('protocol');
    const { version, ...protocol } = shownProtocol(found);
    return tagged(this.response, { ...protocol, capabilities }, version);
  }

  /** Changes what is given; absent fields keep their value. */
  @Patch('{id}')
  @Security('caller', ['protocol:update'])
  public async update(@Request() request: HttpRequest, @Path() id: string, @Body() body: ProtocolPatch): Promise<Protocol> {
    const change = { body, code: exactMemberOf(request, 'code') };
    const { version, ...protocol } = await patchProtocol(this.ctx, this.caller, id, change, expectedVersions(request));
    return tagged(this.response, protocol, version);
  }

  /** Deletes a protocol. Workbook versions keep what it said; cells that name it are left dangling. */
  @Delete('{id}')
  @Security('caller', ['protocol:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string): Promise<null> {
    return removeLibraryResource(this.ctx, this.caller, { type: 'protocol', id }, expectedVersions(request));
  }

  /** Makes a protocol public. There is no way back. */
  @Patch('{id}/visibility')
  @Security('caller', ['protocol:manage'])
  public async publish(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setLibraryVisibility(this.ctx, this.caller, { type: 'protocol', id }, body.visibility);
  }

  /** Macros that are linked to the protocol and that you may read, by name. */
  @Get('{id}/macros')
  @Security('caller', ['protocol:read'])
  public async macros(@Path() id: string): Promise<ProtocolMacroLink[]> {
    return macrosOfProtocol(this.ctx.db, this.caller.userId, id);
  }

  /** Links macros that you may read, and answers those links. All of them, or none. */
  @Post('{id}/macros')
  @Security('caller', ['protocol:update'])
  @SuccessResponse(201, 'Created')
  public async link(@Path() id: string, @Body() body: ProtocolMacroLinks): Promise<ProtocolMacroLink[]> {
    this.setStatus(201);
    return linkMacros(this.ctx, this.caller, id, body.macroIds);
  }

  /** Takes a link away; one that is not there is no error. */
  @Delete('{id}/macros/{macroId}')
  @Security('caller', ['protocol:update'])
  public async unlink(@Path() id: string, @Path() macroId: string): Promise<null> {
    return unlink(this.ctx, this.caller, { type: 'protocol', macroId, protocolId: id });
  }
}
