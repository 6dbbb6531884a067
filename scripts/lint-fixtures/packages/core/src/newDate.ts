// refused: eslint(no-restricted-globals) Time comes from Effect's Clock
export const refused = new Date()
