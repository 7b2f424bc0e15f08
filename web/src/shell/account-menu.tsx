import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { words } from '../words.ts';
import { NewsMark } from './news-mark.tsx';
import { answerOf, auth, renewSession, type Session } from './session.ts';
import { sayFailed } from './toasts.tsx';

/** Who is signed in, and what is theirs. */
export function AccountMenu({ session: { user } }: { session: Session }) {
  const navigate = useNavigate();
  const signOut = async () => {
    try {
      await answerOf(auth.signOut());
      await renewSession();
      await navigate({ to: '/sign-in' });
    } catch (error) {
      sayFailed(error);
    }
  };
  const name = (user.name === '' ? (user.email ?? words.account.title) : user.name).split(/[\s@]/)[0] ?? '';
  return (
    <MenuTrigger>
      <Button className="button bare" aria-label={words.nav.menu(name)}>
        {name} <span aria-hidden="true">▾</span>
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" aria-label={words.nav.menu(name)}>
          <MenuItem className="menu-item" onAction={() => void navigate({ to: '/devices' })}>
            {words.nav.devices}
          </MenuItem>
          <MenuItem className="menu-item" onAction={() => void navigate({ to: '/organizations' })}>
            {words.nav.organizations}
          </MenuItem>
          <MenuItem className="menu-item" onAction={() => void navigate({ to: '/account' })}>
            {words.nav.account}
          </MenuItem>
          <MenuItem className="menu-item" onAction={() => void navigate({ to: '/library/$kind', params: { kind: 'macros' } })}>
            {words.nav.library}
          </MenuItem>
          <MenuItem className="menu-item" onAction={() => void navigate({ to: '/account/invitations' })}>
            {words.nav.invitations}
          </MenuItem>
          <MenuItem className="menu-item" textValue={words.news.title} onAction={() => void navigate({ to: '/news' })}>
            {words.news.title} <NewsMark />
          </MenuItem>
          <MenuItem className="menu-item" onAction={() => void signOut()}>
            {words.nav.signOut}
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
