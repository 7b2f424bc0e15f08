import { Body, Get, Post, Query, Route, Security, Tags } from '@tsoa/runtime';
import { ApiController } from '../../http/controllers.ts';
import type { Uuid } from '../sharing/sharing.model.ts';
import type {
  AcceptedInvitation,
  InvitationForRecipient,
  InvitationNamed,
  NewOrganizationInvitation,
  OrganizationInvitation,
  OwnOrganizationInvitation,
  RejectedInvitation,
} from './authority.model.ts';
import { requireOrganizationId } from './authority.service.ts';
import {
  acceptInvitation,
  cancelInvitation,
  loadInvitation,
  loadOrganizationInvitations,
  loadInvitationsTo,
  invite,
  rejectInvitation,
} from './invitations.service.ts';
import type { ManagedTeam, ManagedTeamMember, NewTeam, Said, TeamMemberNamed, TeamNamed, TeamUpdate } from './teams.model.ts';
import { addTeamMember, changeTeam, createTeam, loadTeamMembers, removeTeam, removeTeamMember, loadTeams } from './teams.service.ts';
import { listTeamsOf } from './teams.queries.ts';

/** Invitations and teams of organizations: for sessions only. */
@Route('api/v1/auth/organization')
@Tags('Organization management')
@Security('session')
export class OrganizationInvitationsController extends ApiController {
  /**
   * Only for owners and admins by a session, else YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION (403); only an owner may invite an owner.
   * The invitation lives 48 hours and goes out by letter; with `resend` a live one is prolonged and sent again as it was; ten letters a day
   * at most go from one person to one address. Refused with
   * USER_IS_ALREADY_A_MEMBER_OF_THIS_ORGANIZATION, USER_IS_ALREADY_INVITED_TO_THIS_ORGANIZATION, TEAM_NOT_FOUND (400), and INVITATION_LIMIT_REACHED
   * (403) at 100 pending ones.
   * @summary Invite an address to an organization
   */
  @Post('invite-member')
  public async inviteMember(@Body() body: NewOrganizationInvitation): Promise<OrganizationInvitation> {
    return invite(this.ctx, this.caller, body);
  }

  /**
   * Only for the person whose proven address is invited, by a session; others get YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION (403). It makes you a
   * member, or raises the role that you have, and puts you into the teams that it names. An invitation that has ended is INVITATION_NOT_FOUND (400),
   * an organization of 100 members refuses with ORGANIZATION_MEMBERSHIP_LIMIT_REACHED (403).
   * @summary Accept an invitation to an organization
   */
  @Post('accept-invitation')
  public async acceptOrganizationInvitation(@Body() body: InvitationNamed): Promise<AcceptedInvitation> {
    return acceptInvitation(this.ctx, this.caller, body.invitationId);
  }

  /**
   * Only for the person whose proven address is invited, by a session; others get YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION (403). An expired one
   * can be rejected too; one that has ended is INVITATION_NOT_FOUND (400).
   * @summary Reject an invitation to an organization
   */
  @Post('reject-invitation')
  public async rejectOrganizationInvitation(@Body() body: InvitationNamed): Promise<RejectedInvitation> {
    return { invitation: await rejectInvitation(this.ctx, this.caller, body.invitationId), member: null };
  }

  /**
   * Only for owners and admins of the organization by a session, else YOU_ARE_NOT_ALLOWED_TO_CANCEL_THIS_INVITATION (403). One that has ended is
   * INVITATION_NOT_FOUND (400).
   * @summary Take an invitation back
   */
  @Post('cancel-invitation')
  public async cancelOrganizationInvitation(@Body() body: InvitationNamed): Promise<OrganizationInvitation> {
    return cancelInvitation(this.ctx, this.caller, body.invitationId);
  }

  /**
   * Only for the person whose proven address is invited, by a session; others get YOU_ARE_NOT_THE_RECIPIENT_OF_THE_INVITATION (403). One that has
   * ended, or whose sender has left, is INVITATION_NOT_FOUND (400).
   * @summary Read an invitation to you
   * @param id Invitation, by its UUID.
   */
  @Get('get-invitation')
  public async getOrganizationInvitation(@Query() id: Uuid): Promise<InvitationForRecipient> {
    return loadInvitation(this.ctx, this.caller, id);
  }

  /**
   * Only for owners and admins by a session, else YOU_ARE_NOT_ALLOWED_TO_INVITE_USERS_TO_THIS_ORGANIZATION (403). Answers invitations of every
   * status, newest first.
   * @summary List the invitations of an organization
   * @param organizationId Organization, by its UUID. It must be named: none is ever active on a session.
   */
  @Get('list-invitations')
  public async listOrganizationInvitations(@Query() organizationId?: Uuid): Promise<OrganizationInvitation[]> {
    return loadOrganizationInvitations(this.ctx, this.caller, requireOrganizationId(organizationId));
  }

  /**
   * For everybody who is signed in by a session and has a proven address, else EMAIL_VERIFICATION_REQUIRED_FOR_INVITATION (403). Answers the live
   * ones.
   * @summary List invitations to you
   */
  @Get('list-user-invitations')
  public async listMyOrganizationInvitations(): Promise<OwnOrganizationInvitation[]> {
    return loadInvitationsTo(this.ctx, this.caller);
  }

  /**
   * Only for owners and admins of the organization by a session, else YOU_ARE_NOT_ALLOWED_TO_CREATE_TEAMS_IN_THIS_ORGANIZATION (403). A personal
   * workspace refuses with PERSONAL_WORKSPACE (400).
   * @summary Create a team
   */
  @Post('create-team')
  public async createTeam(@Body() body: NewTeam): Promise<ManagedTeam> {
    return createTeam(this.ctx, this.caller, requireOrganizationId(body.organizationId), body.name);
  }

  /**
   * Only for owners and admins of the organization by a session, else YOU_ARE_NOT_ALLOWED_TO_UPDATE_THIS_TEAM (403). A team of another organization
   * is TEAM_NOT_FOUND (400).
   * @summary Rename a team
   */
  @Post('update-team')
  public async updateTeam(@Body() body: TeamUpdate): Promise<ManagedTeam> {
    return changeTeam(this.ctx, this.caller, requireOrganizationId(body.data.organizationId), {
      teamId: body.teamId,
      name: body.data.name,
    });
  }

  /**
   * Only for owners and admins of the organization by a session, else YOU_ARE_NOT_ALLOWED_TO_DELETE_THIS_TEAM (403). Every grant that names the team
   * goes with it. A team of another organization is TEAM_NOT_FOUND (400).
   * @summary Delete a team
   */
  @Post('remove-team')
  public async deleteTeam(@Body() body: TeamNamed): Promise<Said> {
    await removeTeam(this.ctx, this.caller, requireOrganizationId(body.organizationId), body.teamId);
    return { message: 'Team removed successfully.' };
  }

  /**
   * Only for members of the organization by a session, else YOU_ARE_NOT_A_MEMBER_OF_THIS_ORGANIZATION (403).
   * @summary List the teams of your organization
   * @param organizationId Organization, by its UUID. It must be named: none is ever active on a session.
   */
  @Get('list-teams')
  public async listTeams(@Query() organizationId?: Uuid): Promise<ManagedTeam[]> {
    return loadTeams(this.ctx, this.caller, requireOrganizationId(organizationId));
  }

  /**
   * For everybody who is signed in by a session. Answers your teams in all organizations.
   * @summary List the teams you are in
   */
  @Get('list-user-teams')
  public async listMyTeams(): Promise<ManagedTeam[]> {
    return listTeamsOf(this.ctx.db, this.caller.userId);
  }

  /**
   * Only for members of the team, and the owners and admins of its organization, by a session; others get USER_IS_NOT_A_MEMBER_OF_THE_TEAM (400), as
   * for a team that does not exist.
   * @summary List who is in a team
   * @param teamId Team, by its UUID. It must be named.
   */
  @Get('list-team-members')
  public async listTeamMembers(@Query() teamId?: Uuid): Promise<ManagedTeamMember[]> {
    return loadTeamMembers(this.ctx, this.caller, teamId);
  }

  /**
   * Only for owners and admins of the organization by a session, else YOU_ARE_NOT_ALLOWED_TO_CREATE_A_NEW_TEAM_MEMBER (403). Who is in the team
   * already stays. Who is no member of the organization is USER_IS_NOT_A_MEMBER_OF_THE_ORGANIZATION, a team of another one TEAM_NOT_FOUND (400).
   * @summary Put a member into a team
   */
  @Post('add-team-member')
  public async addTeamMember(@Body() body: TeamMemberNamed): Promise<ManagedTeamMember> {
    return addTeamMember(this.ctx, this.caller, requireOrganizationId(body.organizationId), body);
  }

  /**
   * Only for owners and admins of the organization by a session, else YOU_ARE_NOT_ALLOWED_TO_REMOVE_A_TEAM_MEMBER (403). Who is not in the team is
   * USER_IS_NOT_A_MEMBER_OF_THE_TEAM (400).
   * @summary Take somebody out of a team
   */
  @Post('remove-team-member')
  public async removeTeamMember(@Body() body: TeamMemberNamed): Promise<Said> {
    await removeTeamMember(this.ctx, this.caller, requireOrganizationId(body.organizationId), body);
    return { message: 'Team member removed successfully.' };
  }
}
