import type { PasskeyRow } from '../../auth/passkeys.ts';
import { html, type Html } from '../../http/pages.ts';
import type { ApiKeyInfo } from '../credentials/credentials.model.ts';
import type { AccountSession, AccountUser } from './account.model.ts';
import type { LinkedAccount } from './providers.model.ts';

const PROVIDER_NAMES: Readonly<Record<string, string>> = { github: 'GitHub', orcid: 'ORCID' };

/** A moment as a person reads it; the machine's form is beside it. */
const moment = (at: Date | null, otherwise: string): Html =>
  at === null
    ? html`${otherwise}`
    : html`<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>`;

/** The form to sign in with: code first, then whatever else is on. */
export const signInBody = ({ next, github, orcid }: { next: string; github: boolean; orcid: boolean }): Html => html`
  <div id="methods" data-next="${next}">
    <form id="send-form" class="panel" data-method="email">
      <h2>By a code</h2>
      <label for="email">Email address</label>
      <input id="email" name="email" type="email" autocomplete="username webauthn" required maxlength="254" />
      <p class="hint">We send six digits. If the address is new here, this makes your account.</p>
      <button type="submit">Send me a code</button>
    </form>
    <form id="code-form" class="panel" hidden>
      <h2>Enter the code</h2>
      <label for="code">Six digits from the letter to <span id="sent-to"></span></label>
      <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{6}" maxlength="6" required />
      <button type="submit">Sign in</button> <button type="button" class="plain" id="other-address">Use another address</button>
    </form>
    <section class="panel" aria-labelledby="others">
      <h2 id="others">Other ways</h2>
      <button type="button" id="passkey" data-method="passkey">Sign in with a passkey</button>
      ${github ? html`<button type="button" class="provider" data-provider="github" data-method="github">Sign in with GitHub</button>` : null}
      ${orcid ? html`<button type="button" class="provider" data-provider="orcid" data-method="orcid">Sign in with ORCID</button>` : null}
    </section>
  </div>
  <noscript><p>Signing in needs JavaScript.</p></noscript>
`;

interface AccountPage {
  user: AccountUser;
  profile: { firstName: string; lastName: string; bio: string | null } | undefined;
  sessions: readonly AccountSession[];
  /** Handle of the session that asks. */
  own: string;
  passkeys: readonly PasskeyRow[];
  keys: readonly ApiKeyInfo[];
  linked: readonly LinkedAccount[];
}

const profileSection = ({ user, profile }: AccountPage): Html =>
  html` <section class="panel" aria-labelledby="profile-title">
    <h2 id="profile-title">Profile</h2>
    <p>Signed in as <strong>${user.email ?? (user.name === '' ? 'an account without an address' : user.name)}</strong>.</p>
    <form id="profile-form">
      <label for="first-name">First name</label>
      <input id="first-name" name="firstName" autocomplete="given-name" required maxlength="100" value="${profile?.firstName ?? ''}" />
      <label for="last-name">Last name</label>
      <input id="last-name" name="lastName" autocomplete="family-name" required maxlength="100" value="${profile?.lastName ?? ''}" />
      <label for="bio">About you</label>
      <textarea id="bio" name="bio" rows="3">${profile?.bio ?? ''}</textarea>
      <button type="submit">Save profile</button>
    </form>
  </section>`;

const sessionsSection = ({ sessions, own }: AccountPage): Html =>
  html` <section class="panel" aria-labelledby="sessions-title">
    <h2 id="sessions-title">Sessions</h2>
    <ul class="rows" id="sessions">
      ${sessions.map(
        (session) =>
          html`<li>
            <div>
              <strong>${session.id === own ? 'This browser' : (session.userAgent ?? 'Unknown program')}</strong>
              <span class="hint">from ${session.ipAddress ?? 'unknown'}, since ${moment(session.createdAt, '')}</span>
            </div>
            ${session.id === own ? null : html`<button type="button" class="danger" data-revoke-session="${session.token}" aria-label="End the session since ${session.createdAt.toISOString()}">End</button>`}
          </li>`,
      )}
    </ul>
    <button type="button" id="revoke-others">End all other sessions</button>
  </section>`;

const passkeysSection = ({ passkeys }: AccountPage): Html =>
  html` <section class="panel" aria-labelledby="passkeys-title">
    <h2 id="passkeys-title">Passkeys</h2>
    <ul class="rows" id="passkeys">
      ${passkeys.map(
        (passkey) =>
          html`<li>
            <form class="rename" data-passkey="${passkey.id}">
              <label for="name-${passkey.id}">Name of the passkey made ${moment(passkey.createdAt, '')}</label>
              <div class="inline">
                <input id="name-${passkey.id}" name="name" required maxlength="255" value="${passkey.name ?? ''}" /><button type="submit">
                  Rename
                </button>
                <button
                  type="button"
                  class="danger"
                  data-delete-passkey="${passkey.id}"
                  aria-label="Delete passkey ${passkey.name ?? 'without a name'}"
                >
                  Delete
                </button>
              </div>
            </form>
          </li>`,
      )}
    </ul>
    <form id="passkey-form">
      <label for="passkey-name">Name of a new passkey</label>
      <div class="inline">
        <input id="passkey-name" name="name" required maxlength="255" placeholder="My laptop" /><button type="submit">Add a passkey</button>
      </div>
    </form>
  </section>`;

function keyState(key: ApiKeyInfo): string {
  if (key.revokedAt) return 'revoked';
  if (key.expiresAt && key.expiresAt.getTime() < Date.now()) return 'expired';
  return key.enabled ? 'active' : 'off';
}

const keysSection = ({ keys }: AccountPage): Html =>
  html` <section class="panel" aria-labelledby="keys-title">
    <h2 id="keys-title">API keys</h2>
    <ul class="rows" id="keys">
      ${keys.map(
        (key) =>
          html`<li>
            <div>
              <strong>${key.name}</strong> <code>${key.start}…${key.lastFour}</code> <span class="state">${keyState(key)}</span>
              <span class="hint"
                >made ${moment(key.createdAt, '')}, last used ${moment(key.lastRequest, 'never')}, ends
                ${moment(key.expiresAt, 'never')}</span
              >
            </div>
            ${key.revokedAt ? null : html`<button type="button" class="danger" data-revoke-key="${key.id}" aria-label="Revoke key ${key.name}">Revoke</button>`}
          </li>`,
      )}
    </ul>
    <form id="key-form">
      <label for="key-name">Name of a new key</label><input id="key-name" name="name" required maxlength="32" />
      <label for="key-expiry">It ends</label
      ><select id="key-expiry" name="expiresIn">
        <option value="2592000">after 30 days</option>
        <option value="7776000">after 90 days</option>
        <option value="31536000">after 365 days</option>
        <option value="">never</option>
      </select>
      <button type="submit">Make a key</button>
    </form>
    <div id="new-key" hidden>
      <p>Copy this key now. It is shown only once.</p>
      <p><code id="new-key-value" tabindex="-1"></code></p>
    </div>
  </section>`;

const linkedSection = ({ linked }: AccountPage): Html =>
  html` <section class="panel" aria-labelledby="linked-title">
    <h2 id="linked-title">Linked providers</h2>
    ${linked.length === 0 ? html`<p>None.</p>` : null}
    <ul class="rows">
      ${linked.map(
        (account) =>
          html`<li>
            <div>
              <strong>${PROVIDER_NAMES[account.providerId] ?? account.providerId}</strong>
              <span class="hint">since ${moment(account.createdAt, '')}</span>
            </div>
            <button
              type="button"
              class="danger"
              data-unlink="${account.providerId}"
              aria-label="Unlink ${PROVIDER_NAMES[account.providerId] ?? ''}"
            >
              Unlink
            </button>
          </li>`,
      )}
    </ul>
  </section>`;

/** Profile, sessions, passkeys, keys and providers of one person. */
export const accountBody = (page: AccountPage): Html =>
  html`${profileSection(page)}${sessionsSection(page)}${passkeysSection(page)}${keysSection(page)}${linkedSection(page)}`;

/** The list is filled by the page's script: what it shows belongs to organizations. */
export const invitationsBody = (): Html =>
  html` <p>Invitations to organizations wait here until you accept or decline them.</p>
    <ul class="rows panel" id="invitations" aria-label="Invitations"></ul>
    <p id="none" hidden>You have no invitations.</p>`;
