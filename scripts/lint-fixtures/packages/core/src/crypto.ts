// refused: eslint(no-restricted-globals) Hashing and identifiers come through a port
export const refused = crypto.randomUUID()
