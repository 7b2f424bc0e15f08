import { join } from 'node:path';
import express, { type Express } from 'express';
import helmet from 'helmet';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import { LARGEST_OBJECT, acceptObject } from './api/messages/arrivals.service.ts';
import type { Context } from './context.ts';
import { errors } from './errors.ts';
import { RegisterRoutes } from './generated/routes.js';
import { limitBodyTime } from './http/connections/body-clock.ts';
import { admitRequests } from './http/admission.ts';
import { allowTrustedOrigins } from './http/cors.ts';
import { makeConsoleRoutes } from './http/console.ts';
import { sendDocumentation, setDocumentationPolicy, sendDocumentationScript } from './http/documentation.ts';
import { setCachePolicy } from './http/answers/caching.ts';
import { renderErrors } from './http/answers/errors.ts';
import { refuseDoubtfulHeads } from './http/heads.ts';
import { allowOnly, answerMethods, METHODS } from './http/methods.ts';
import { makeObjectRoutes } from './http/objects.ts';
import { observe } from './http/observe.ts';
import { sortRoutes } from './http/routing.ts';

/** The API: middleware in the order in which a request meets it. */
export function createApp(context: Context): Express {
  const app = express();
  app.locals['context'] = context;
  app.disable('x-powered-by');
  // our own code sets entity tags: express would hash every body, which costs more than it saves
  app.set('etag', false);
  app.set('query parser', 'simple');
  // the number of our own proxies in front of us; if every X-Forwarded-For were believed, anyone could choose an address
  app.set('trust proxy', context.config.web.trustProxyHops);
  app.use('/api', setCachePolicy);
  app.use(admitRequests({ most: context.config.limits.requestsAtOnce, log: context.log, registry: context.metrics.registry }));
  app.use(observe);
  app.use(
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
      crossOriginResourcePolicy: { policy: 'same-site' },
      strictTransportSecurity: context.config.baseUrl?.startsWith('https:') === true,
      xFrameOptions: { action: 'deny' },
    }),
  );
  app.use(refuseDoubtfulHeads);
  app.use(limitBodyTime);
  app.use(allowTrustedOrigins);
  app.use(['/openapi.json', '/docs'], allowOnly('GET', 'HEAD'));
  app.get('/openapi.json', (_request, response) => response.type('json').send(context.openapi.text));
  app.get('/docs', (_request, response) => response.redirect(308, '/docs/api'));
  app.get('/docs/api', sendDocumentation);
  app.get('/docs/page.js', sendDocumentationScript);
  app.use('/docs', setDocumentationPolicy, express.static(swaggerUiFolder(), { index: false }));
  const { objectFolder } = context;
  if (objectFolder)
    app.use(
      '/objects',
      makeObjectRoutes({ store: objectFolder, maxBytes: LARGEST_OBJECT, arrived: (key, stored) => acceptObject(context, key, stored) }),
    );
  const routes = sortRoutes(RegisterRoutes);
  app.use(routes.handle);
  app.use(makeConsoleRoutes(join(context.config.root, 'build', 'web')));
  app.use((request, response) => {
    const methods = request.path === '*' ? METHODS : routes.methodsOf(request.path);
    if (methods.length === 0) throw errors.routeNotFound();
    answerMethods(request.method, response, methods);
  });
  app.use(renderErrors);
  return app;
}
