// refused: eslint(no-restricted-imports) The core knows no adapter
import { layer } from "../../adapter-memory/src/MemoryStorage.ts"

export const refused = layer
