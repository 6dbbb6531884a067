// refused: eslint(no-restricted-globals) Waiting is Effect.sleep
export const refused = setTimeout
