// refused: eslint(no-restricted-imports) The core does no I/O
import { readFileSync } from "node:fs"

export const refused = readFileSync
