/** Names of what access is decided about. What a role confers is in `sql/views/010_access.sql`. */
export const RESOURCE_TYPES = ['experiment', 'protocol', 'macro', 'workbook', 'device', 'device_group'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export const ACTIONS = ['read', 'contribute', 'update', 'share', 'manage'] as const;
export type Action = (typeof ACTIONS)[number];

export type AccessSource = 'organization-role' | 'user-grant' | 'team-grant' | 'organization-grant' | 'public';

/** Types that can move to another organization. */
export const TRANSFERABLE: Record<ResourceType, boolean> = {
  experiment: true,
  protocol: true,
  macro: true,
  workbook: true,
  device: false,
  device_group: false,
};
