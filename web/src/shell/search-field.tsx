import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { Form } from '../ui/form.tsx';
import { useTyped } from '../ui/typed.ts';
import { words } from '../words.ts';

/** Looks for experiments from everywhere. */
export function SearchField() {
  const navigate = useNavigate();
  const isHome = useLocation({ select: ({ pathname }) => pathname === '/' });
  const asked = useSearch({ strict: false });
  // other pages search for something else
  const search = isHome ? (asked.search ?? '') : '';
  const [typed, type] = useTyped(search);
  const submit = () => {
    const text = typed.trim();
    void navigate({ to: '/', search: text === '' ? {} : { search: text, scope: 'all' } });
  };
  return (
    <Form role="search" className="top-search" send={submit}>
      <input
        className="input"
        type="search"
        name="search"
        value={typed}
        onChange={({ target }) => type(target.value)}
        maxLength={200}
        aria-label={words.search.label}
        placeholder={words.search.placeholder}
      />
    </Form>
  );
}
