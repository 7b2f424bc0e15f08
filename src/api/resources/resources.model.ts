import type { Uuid } from '../sharing/sharing.model.ts';

export type Visibility = 'private' | 'public';
export type ListScope = 'all' | 'related';

/** What the caller may do with a resource: hints for a client; every route decides for itself. */
export interface ResourceCapabilities {
  canContribute: boolean;
  canUpdate: boolean;
  canManage: boolean;
  canShare: boolean;
  /** A direct grant is held, and can be given up. */
  canLeave: boolean;
  canTransfer: boolean;
}

export interface VisibilityPatch {
  visibility: Visibility;
}

export interface VisibilityState {
  id: string;
  visibility: Visibility;
}

/** Types that are kept in a library and used by experiments. */
export type LibraryType = 'protocol' | 'macro' | 'workbook';

export interface PageQuery {
  /**
   * @isInt
   * @minimum 1
   */
  page?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 100
   */
  pageSize?: number;
}

export interface LibraryListQuery extends PageQuery {
  /**
   * Deprecated: `my` is an old name of `scope=related`.
   */
  filter?: 'my';
  /** `all`: everything that you may read. `related`: without what you can read only because it is public. */
  scope?: ListScope;
  /**
   * Words of a name or description, its maker, language or family; the beginning of a word is enough and small misspellings are forgiven.
   * @maxLength 200
   */
  search?: string;
}

/** What protocols, macros and workbooks have in common. */
export interface LibraryResource {
  id: string;
  name: string;
  description: string | null;
  organizationId: string;
  /** Null for a personal workspace. */
  organizationName: string | null;
  visibility: Visibility;
  createdBy: string;
  createdByName: string;
  /** What this was copied from; null when that is nothing, or gone. */
  forkedFrom: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** In single GETs. */
  capabilities?: ResourceCapabilities;
}

export interface NewLibraryResource {
  /**
   * Trimmed. Names need not be unique.
   * @maxLength 255
   * @pattern \S
   */
  name: string;
  /** @maxLength 100000 */
  description?: string | null;
  /** Something of the same type that you may read. */
  forkedFrom?: Uuid;
  /** An organization that you are a member of; your personal workspace when absent. */
  organizationId?: Uuid;
  /** Private unless stated otherwise. */
  visibility?: Visibility;
}

export interface LibraryResourcePatch {
  /**
   * Trimmed.
   * @maxLength 255
   * @pattern \S
   */
  name?: string;
  /** @maxLength 100000 */
  description?: string | null;
}
