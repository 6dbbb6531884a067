// refused: eslint(no-restricted-imports) The core imports the root of effect only
export const refused = () => import("effect/sql")
