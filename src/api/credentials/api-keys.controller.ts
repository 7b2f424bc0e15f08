import { Body, Get, Post, Queries, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type {
  ApiKeyChange,
  ApiKeyInfo,
  ApiKeyList,
  ApiKeyNamed,
  CreatedApiKey,
  KeyRevoked,
  NewApiKeyRequest,
} from './credentials.model.ts';
import { countApiKeys, listApiKeys } from './credentials.queries.ts';
import { changeKey, getKey, makeKey, revokeOwnKey } from './credentials.service.ts';

interface ApiKeyListQuery {
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  limit?: number;
  /**
   * @isInt
   * @minimum 0
   */
  offset?: number;
  sortBy?: 'createdAt' | 'updatedAt' | 'name' | 'expiresAt' | 'lastRequest';
  sortDirection?: 'asc' | 'desc';
}

@Route('api/v1/auth/api-key')
@Tags('API keys')
@Security('session')
export class ApiKeysController extends ApiController {
  /** Makes a key that acts as you. It is shown in this answer and never again. */
  @Post('create')
  public async create(@Body() body: NewApiKeyRequest): Promise<CreatedApiKey> {
    this.response.setHeader('Cache-Control', 'no-store');
    return makeKey(this.ctx, this.caller, body);
  }

  /** Your keys, newest first, revoked ones included. */
  @Get('list')
  public async list(@Queries() query: ApiKeyListQuery): Promise<ApiKeyList> {
    const page = {
      limit: query.limit ?? 1000,
      offset: query.offset ?? 0,
      sort: query.sortBy ?? 'createdAt',
      descending: (query.sortDirection ?? (query.sortBy === undefined ? 'desc' : 'asc')) === 'desc',
    };
    const [apiKeys, total] = await Promise.all([
      listApiKeys(this.ctx.db, this.caller.userId, page),
      countApiKeys(this.ctx.db, this.caller.userId),
    ]);
    return { apiKeys, total, limit: query.limit ?? null, offset: query.offset ?? null };
  }

  /** One key of yours. */
  @Get('get')
  public async get(@Query() id: string): Promise<ApiKeyInfo> {
    return getKey(this.ctx, this.caller, id);
  }

  /** Renames a key, turns it off or on, or sets when it ends. */
  @Post('update')
  public async update(@Body() body: ApiKeyChange): Promise<ApiKeyInfo> {
    return changeKey(this.ctx, this.caller, body);
  }

  /** Revokes a key. It is refused from the next call on and cannot be brought back. */
  @Post('delete')
  public async revoke(@Body() body: ApiKeyNamed): Promise<KeyRevoked> {
    await revokeOwnKey(this.ctx, this.caller, body.keyId);
    return { success: true };
  }
}
