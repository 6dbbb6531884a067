// refused: eslint(no-restricted-globals) Settings are read by the server
export const refused = process.env
