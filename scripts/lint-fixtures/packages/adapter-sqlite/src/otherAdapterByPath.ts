// refused: eslint(no-restricted-imports) Another package is imported by its name
import { layer } from "../../adapter-pg/src/PgStorage.ts"

export const refused = layer
