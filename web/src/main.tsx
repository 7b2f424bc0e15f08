import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { config } from 'zod/mini';
import { queryClient } from './api.ts';
import { router } from './router.tsx';
import { readTheme, showTheme } from './shell/theme.ts';
import './styles/tokens.css';
import './styles/base.css';
import './ui/ui.css';

// zod would make functions out of text, which the policy of the page forbids
config({ jitless: true });
showTheme(readTheme());

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root.');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
