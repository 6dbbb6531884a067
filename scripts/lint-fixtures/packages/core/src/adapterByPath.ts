// refused: eslint(no-restricted-imports) The core knows no adapter
import { layer } from "../../adapter-sqlite/src/SqliteStorage.ts"

export const refused = layer
