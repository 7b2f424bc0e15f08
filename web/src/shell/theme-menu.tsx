import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { words } from '../words.ts';
import { chooseTheme, readTheme, THEMES, type Theme } from './theme.ts';

/** The switch between light and dark. */
export function ThemeMenu() {
  const [theme, setTheme] = useState(readTheme);
  const choose = (next: Theme) => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <MenuTrigger>
      <Button className="button bare" aria-label={words.theme.label}>
        ◐
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="menu" selectionMode="single" selectedKeys={[theme]} aria-label={words.theme.label}>
          {THEMES.map((each) => (
            <MenuItem key={each} id={each} className="menu-item" onAction={() => choose(each)}>
              {words.theme[each]}
              {each === theme ? ' ✓' : ''}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
