import type { Request, Response } from 'express';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>fieldlake API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="swagger-ui"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</body>
</html>
`;

const SCRIPT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, tryItOutEnabled: true });\n`;

const POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'";

/** The page at /docs/api, from packaged assets: nothing is loaded from elsewhere. */
export function sendDocumentation(_request: Request, response: Response): void {
  response.setHeader('Content-Security-Policy', POLICY);
  response.type('html').send(PAGE);
}

export function sendDocumentationScript(_request: Request, response: Response): void {
  response.type('text/javascript').send(SCRIPT);
}

export function setDocumentationPolicy(_request: Request, response: Response, next: () => void): void {
  response.setHeader('Content-Security-Policy', POLICY);
  next();
}
