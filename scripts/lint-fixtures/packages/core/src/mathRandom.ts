// refused: eslint(no-restricted-properties) Randomness comes from a service
export const refused = Math.random()
