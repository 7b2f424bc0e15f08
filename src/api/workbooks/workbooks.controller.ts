import type { Request as HttpRequest } from 'express';
import { Body, Delete, Get, Patch, Path, Post, Queries, Request, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime';
import { capabilitiesOf } from '../../authorization/access.ts';
import { errors } from '../../errors.ts';
import { expectedVersions, listed, mostCounted, pageOf, tagged } from '../../http/answers.ts';
import { ApiController } from '../../http/controllers.ts';
import type { LibraryListQuery, PageQuery, VisibilityPatch, VisibilityState } from '../resources/resources.model.ts';
import { filterOf, removeLibraryResource, setLibraryVisibility } from '../resources/resources.service.ts';
import { countVersions, listVersions } from './versions.queries.ts';
import { readVersion } from './versions.service.ts';
import type {
  NewWorkbook,
  Workbook,
  WorkbookListItem,
  WorkbookPatch,
  WorkbookProblems,
  WorkbookVersion,
  WorkbookVersionSummary,
} from './workbooks.model.ts';
import { countWorkbooks, findWorkbook, listWorkbooks } from './workbooks.queries.ts';
import { createWorkbook, patchWorkbook, problemsOfWorkbook } from './workbooks.service.ts';

@Route('api/v1/workbooks')
@Tags('Workbooks')
export class WorkbooksController extends ApiController {
  /** Lists workbooks by name; with `search`, best match first, also by what they use and who uses them. */
  @Get()
  @Security('caller')
  public async list(@Request() request: HttpRequest, @Queries() query: LibraryListQuery): Promise<WorkbookListItem[]> {
    const filter = filterOf(this.caller.userId, query);
    const page = pageOf(query);
    const [rows, total] = await Promise.all([
      listWorkbooks(this.ctx.db, filter, page),
      countWorkbooks(this.ctx.db, filter, mostCounted(request)),
    ]);
    return listed(request, this.response, { rows, total }, page);
  }

  /** Creates a workbook, private unless stated otherwise, in an organization of yours or your personal workspace. */
  @Post()
  @Security('caller')
  @SuccessResponse(201, 'Created')
  public async create(@Body() body: NewWorkbook): Promise<Workbook> {
    this.setStatus(201);
    return createWorkbook(this.ctx, this.caller, body);
  }

  /** One workbook, and what you may do with it. */
  @Get('{id}')
  @Security('caller', ['workbook:read'])
  public async get(@Path() id: string): Promise<Workbook> {
    const [found, capabilities] = await Promise.all([
      findWorkbook(this.ctx.db, id),
      capabilitiesOf(this.ctx.db, this.caller.userId, 'workbook', id),
    ]);
    if (!found) throw errors.resourceNotFound('workbook');
    const { version, ...workbook } = found;
    return tagged(this.response, { ...workbook, capabilities }, version);
  }

  /** Changes what is given; cells and metadata are replaced as a whole. Makes no version: experiments keep the one that they pin. */
  @Patch('{id}')
  @Security('caller', ['workbook:update'])
  public async update(@Request() request: HttpRequest, @Path() id: string, @Body() body: WorkbookPatch): Promise<Workbook> {
    const { version, ...workbook } = await patchWorkbook(this.ctx, this.caller, id, body, expectedVersions(request));
    return tagged(this.response, workbook, version);
  }

  /** Deletes a workbook. Experiments that pin one of its versions keep that version and their flow. */
  @Delete('{id}')
  @Security('caller', ['workbook:manage'])
  public async remove(@Request() request: HttpRequest, @Path() id: string): Promise<null> {
    return removeLibraryResource(this.ctx, this.caller, { type: 'workbook', id }, expectedVersions(request));
  }

  /** Makes a workbook public. There is no way back. */
  @Patch('{id}/visibility')
  @Security('caller', ['workbook:manage'])
  public async publish(@Path() id: string, @Body() body: VisibilityPatch): Promise<VisibilityState> {
    return setLibraryVisibility(this.ctx, this.caller, { type: 'workbook', id }, body.visibility);
  }

  /** What would stop the workbook from working in the field: missing references, dangling branches, reserved names. */
  @Get('{id}/problems')
  @Security('caller', ['workbook:read'])
  public async problems(@Path() id: string): Promise<WorkbookProblems> {
    return problemsOfWorkbook(this.ctx, this.caller, id);
  }

  /** Versions, newest first. Attaching and upgrading make them. */
  @Get('{id}/versions')
  @Security('caller', ['workbook:read'])
  public async versions(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Queries() query: PageQuery,
  ): Promise<WorkbookVersionSummary[]> {
    const page =
      query.page === undefined && query.pageSize === undefined ? { page: 1, pageSize: 1000, limit: 1000, offset: 0 } : pageOf(query);
    const [rows, total] = await Promise.all([listVersions(this.ctx.db, id, page), countVersions(this.ctx.db, id)]);
    return listed(request, this.response, { rows, total }, page);
  }

  /** One version, with what it keeps of the protocols and macros that it uses. It never changes. */
  @Get('{id}/versions/{versionId}')
  @Security('caller', ['workbook:read'])
  public async version(@Path() id: string, @Path() versionId: string): Promise<WorkbookVersion> {
    const version = await readVersion(this.ctx.db, id, versionId);
    return tagged(this.response, version, version.version);
  }
}
