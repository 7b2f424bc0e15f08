import { Body, Get, Post, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { Uuid } from '../sharing/sharing.model.ts';
import type {
  AcceptedInvitation,
  InvitationForRecipient,
  InvitationNamed,
  ManagedTeam,
  ManagedTeamMember,
  NewOrganizationInvitation,
  NewTeam,
  OrganizationInvitation,
  OwnOrganizationInvitation,
  RejectedInvitation,
  Said,
  TeamMemberNamed,
  TeamNamed,
  TeamUpdate,
} from './authority.model.ts';
import { named } from './authority.service.ts';
import {
  acceptInvitation,
  cancelInvitation,
  invitationFor,
  invitationsOf,
  invitationsTo,
  invite,
  rejectInvitation,
} from './invitations.service.ts';
import { addTeamMember, changeTeam, createTeam, membersOfTeam, removeTeam, removeTeamMember, teamsOf } from './teams.service.ts';
import { listTeamsOf } from './teams.queries.ts';

/** Invitations and teams of organizations: for sessions only. */
@Route('api/v1/auth/organization')
@Tags('Organization management')
@Security('session')
export class OrganizationInvitationsController extends ApiController {
  /** Invites an address, for 48 hours. For owners and admins. */
  @Post('invite-member')
  public async invite(@Body() body: NewOrganizationInvitation): Promise<OrganizationInvitation> {
    return invite(this.ctx, this.caller, body);
  }

  /** Accepts an invitation to your proven address. */
  @Post('accept-invitation')
  public async accept(@Body() body: InvitationNamed): Promise<AcceptedInvitation> {
    return acceptInvitation(this.ctx, this.caller, body.invitationId);
  }

  /** Rejects an invitation to your address. */
  @Post('reject-invitation')
  public async reject(@Body() body: InvitationNamed): Promise<RejectedInvitation> {
    return { invitation: await rejectInvitation(this.ctx, this.caller, body.invitationId), member: null };
  }

  /** Takes a pending invitation back. For owners and admins. */
  @Post('cancel-invitation')
  public async cancel(@Body() body: InvitationNamed): Promise<OrganizationInvitation> {
    return cancelInvitation(this.ctx, this.caller, body.invitationId);
  }

  /** A live invitation, to its recipient. */
  @Get('get-invitation')
  public async get(@Query() id: Uuid): Promise<InvitationForRecipient> {
    return invitationFor(this.ctx, this.caller, id);
  }

  /** Invitations of an organization, of every status. For owners and admins. */
  @Get('list-invitations')
  public async list(@Query() organizationId?: Uuid): Promise<OrganizationInvitation[]> {
    return invitationsOf(this.ctx, this.caller, named(organizationId));
  }

  /** Your own live invitations. */
  @Get('list-user-invitations')
  public async own(): Promise<OwnOrganizationInvitation[]> {
    return invitationsTo(this.ctx, this.caller);
  }

  /** Makes a team. For owners and admins. */
  @Post('create-team')
  public async createTeam(@Body() body: NewTeam): Promise<ManagedTeam> {
    return createTeam(this.ctx, this.caller, named(body.organizationId), body.name);
  }

  /** Renames a team. For owners and admins. */
  @Post('update-team')
  public async updateTeam(@Body() body: TeamUpdate): Promise<ManagedTeam> {
    return changeTeam(this.ctx, this.caller, named(body.data.organizationId), { teamId: body.teamId, name: body.data.name });
  }

  /** Deletes a team with every grant that names it. For owners and admins. */
  @Post('remove-team')
  public async removeTeam(@Body() body: TeamNamed): Promise<Said> {
    await removeTeam(this.ctx, this.caller, named(body.organizationId), body.teamId);
    return { message: 'Team removed successfully.' };
  }

  /** Teams of an organization of yours. */
  @Get('list-teams')
  public async listTeams(@Query() organizationId?: Uuid): Promise<ManagedTeam[]> {
    return teamsOf(this.ctx, this.caller, named(organizationId));
  }

  /** Teams that you are in. */
  @Get('list-user-teams')
  public async ownTeams(): Promise<ManagedTeam[]> {
    return listTeamsOf(this.ctx.db, this.caller.userId);
  }

  /** Who is in a team: for its members, and the owners and admins of its organization. */
  @Get('list-team-members')
  public async teamMembers(@Query() teamId?: Uuid): Promise<ManagedTeamMember[]> {
    return membersOfTeam(this.ctx, this.caller, teamId);
  }

  /** Puts a member of the organization into a team. For owners and admins. */
  @Post('add-team-member')
  public async addTeamMember(@Body() body: TeamMemberNamed): Promise<ManagedTeamMember> {
    return addTeamMember(this.ctx, this.caller, named(body.organizationId), body);
  }

  /** Takes somebody out of a team. For owners and admins. */
  @Post('remove-team-member')
  public async removeTeamMember(@Body() body: TeamMemberNamed): Promise<Said> {
    await removeTeamMember(this.ctx, this.caller, named(body.organizationId), body);
    return { message: 'Team member removed successfully.' };
  }
}
