// refused: eslint(no-restricted-imports) The core depends on effect and nothing else
import pg from "pg"

export const refused = pg
