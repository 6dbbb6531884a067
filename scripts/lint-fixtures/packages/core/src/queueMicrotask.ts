// refused: eslint(no-restricted-globals) Yielding is Effect.yieldNow
export const refused = queueMicrotask
