import { queryOptions } from '@tanstack/react-query';
import type { Result, VisualizationSpec } from 'vega-embed';

/** What draws a chart, of libraries that are fetched with the first one. Expressions are interpreted, since the policy of the page lets no text become code. */
export const vegaFiles = queryOptions({
  queryKey: ['file', 'charts/vega'],
  queryFn: async () => {
    const [{ default: embed }, { expressionInterpreter }] = await Promise.all([import('vega-embed'), import('vega-interpreter')]);
    return (place: HTMLElement, spec: VisualizationSpec): Promise<Result> =>
      embed(place, spec, {
        actions: false,
        ast: true,
        defaultStyle: false,
        expr: expressionInterpreter,
        renderer: 'svg',
        tooltip: false,
      });
  },
  staleTime: 'static',
});
