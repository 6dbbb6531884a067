// refused: eslint(no-restricted-globals) The core does no I/O
export const refused = () => fetch("https://example.org")
