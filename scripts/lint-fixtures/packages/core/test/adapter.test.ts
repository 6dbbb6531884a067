// refused: eslint(no-restricted-imports) The core knows no adapter
import { layer } from "@tocsin/adapter-memory/MemoryStorage"

export const refused = layer
