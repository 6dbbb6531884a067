// refused: eslint(no-restricted-imports) Adapters never import each other
import { layer } from "@tocsin/adapter-pg/PgStorage"

export const refused = layer
