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
import { changeKey, loadKey, makeKey, revokeOwnKey } from './credentials.service.ts';

interface ApiKeyListQuery {
  /**
   * Keys at most, 1 to 1,000; 1,000 by default.
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  limit?: number;
  /**
   * Keys to skip before the first; 0 by default.
   * @isInt
   * @minimum 0
   */
  offset?: number;
  /** What the keys are ordered by; `createdAt` by default. */
  sortBy?: 'createdAt' | 'updatedAt' | 'name' | 'expiresAt' | 'lastRequest';
  /** `asc` or `desc`. Without it newest first, or ascending when `sortBy` is given. */
  sortDirection?: 'asc' | 'desc';
}

@Route('api/v1/auth/api-key')
@Tags('Account')
@Security('session')
export class ApiKeysController extends ApiController {
  /**
   * For yourself, by a session: API keys are not accepted here. Makes a key that acts as you. It is shown in this answer and never again. Refused
   * with NAME_REQUIRED, INVALID_NAME_LENGTH, EXPIRES_IN_IS_TOO_SMALL or EXPIRES_IN_IS_TOO_LARGE (400), and with TOO_MANY_API_KEYS (409) beyond 1,000
   * that are not revoked.
   * @summary Create an API key
   */
  @Post('create')
  public async createApiKey(@Body() body: NewApiKeyRequest): Promise<CreatedApiKey> {
    this.response.setHeader('Cache-Control', 'no-store');
    return makeKey(this.ctx, this.caller, body);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Answers everything but the keys themselves, newest first, revoked ones included.
   * @summary List your API keys
   */
  @Get('list')
  public async listApiKeys(@Queries() query: ApiKeyListQuery): Promise<ApiKeyList> {
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

  /**
   * For yourself, by a session: API keys are not accepted here. Answers everything but the key itself. Somebody else's is KEY_NOT_FOUND (404).
   * @summary Read one of your API keys
   * @param id API key, by its UUID.
   */
  @Get('get')
  public async getApiKey(@Query() id: string): Promise<ApiKeyInfo> {
    return loadKey(this.ctx, this.caller, id);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. Renames a key, turns it off or on, or sets when it ends. Refused with
   * NO_VALUES_TO_UPDATE when nothing is given, INVALID_NAME_LENGTH, EXPIRES_IN_IS_TOO_SMALL or EXPIRES_IN_IS_TOO_LARGE (400), KEY_NOT_FOUND (404),
   * and API_KEY_REVOKED (409).
   * @summary Change an API key
   */
  @Post('update')
  public async updateApiKey(@Body() body: ApiKeyChange): Promise<ApiKeyInfo> {
    return changeKey(this.ctx, this.caller, body);
  }

  /**
   * For yourself, by a session: API keys are not accepted here. It is refused from the next call on and cannot be brought back; it stays in the list
   * as revoked. Somebody else's is KEY_NOT_FOUND (404).
   * @summary Revoke an API key
   */
  @Post('delete')
  public async revokeApiKey(@Body() body: ApiKeyNamed): Promise<KeyRevoked> {
    await revokeOwnKey(this.ctx, this.caller, body.keyId);
    return { success: true };
  }
}
