interface Range {
  first: number;
  last: number;
}

/** The rows in sight. Only followers are told of them, so that the page around a grid is not drawn anew while the grid is scrolled. */
export interface Sight {
  get: () => Range;
  set: (first: number, last: number) => void;
  follow: (tell: () => void) => () => void;
}

export function makeSight(): Sight {
  let range: Range = { first: 0, last: 0 };
  const followers = new Set<() => void>();
  return {
    get: () => range,
    set: (first, last) => {
      if (first === range.first && last === range.last) return;
      range = { first, last };
      for (const tell of followers) tell();
    },
    follow: (tell) => {
      followers.add(tell);
      return () => followers.delete(tell);
    },
  };
}
