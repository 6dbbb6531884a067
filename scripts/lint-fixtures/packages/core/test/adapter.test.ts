// refused: eslint(no-restricted-imports) The core knows no adapter
import { layer } from "@tocsin/adapter-sqlite/SqliteStorage"

export const refused = layer
