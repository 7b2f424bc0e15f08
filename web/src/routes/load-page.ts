import { lazyRouteComponent } from '@tanstack/react-router';
import { UnreachableError } from '../../../clients/typescript/src/problem.ts';

const isServiceThere = () =>
  fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );

/** Fetches the file of a page when it is first shown. The router reloads when that fails, which without the service leads to the browser's own page. */
export const loadPage: typeof lazyRouteComponent = (importer, name) =>
  lazyRouteComponent(
    () =>
      importer().catch(async (error: unknown) => {
        throw (await isServiceThere()) ? error : new UnreachableError(error);
      }),
    name,
  );
