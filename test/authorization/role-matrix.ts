/** The actions that a role string confers, written down a second time: a test compares them with what Postgres says. */
import { ACTIONS, type Action, type ResourceType } from '../../src/authorization/roles.ts';

/** The actions of somebody who may only look. */
const listLooking = (type: ResourceType): readonly Action[] => (type === 'experiment' ? ['read', 'contribute'] : ['read']);

const roleActions = (role: string, looker: string, type: ResourceType): readonly Action[] =>
  role === 'owner' || role === 'admin' ? ACTIONS : role === looker ? listLooking(type) : [];

/** Actions that a membership's role string confers: a comma list, trimmed; unknown tokens confer nothing. */
export const listRoleActions = (role: string, type: ResourceType): ReadonlySet<Action> =>
  new Set(role.split(',').flatMap((token) => roleActions(token.trim(), 'member', type)));

/** Actions that a grant confers: the role matches one of the three exactly, or confers nothing. */
export const listGrantActions = (role: string, type: ResourceType): ReadonlySet<Action> => new Set(roleActions(role, 'viewer', type));
