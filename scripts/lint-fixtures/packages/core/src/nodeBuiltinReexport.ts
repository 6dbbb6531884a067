// refused: eslint(no-restricted-imports) The core does no I/O
export * from "node:path"
