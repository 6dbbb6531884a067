// refused: eslint(no-restricted-properties) Time comes from Effect's Clock
export const Refused = () => <time>{Date.now()}</time>
