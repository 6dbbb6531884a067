// refused: eslint(no-restricted-globals) The core has no surroundings
export const refused = globalThis
