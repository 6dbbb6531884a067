// refused: eslint(no-restricted-imports) Adapters never import each other
import { layer } from "@tocsin/adapter-sqlite/SqliteStorage"

export const refused = layer
