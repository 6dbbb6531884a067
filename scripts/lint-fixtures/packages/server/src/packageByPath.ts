// refused: eslint(no-restricted-imports) Another package is imported by its name
import { Storage } from "../../core/src/kernel/ports/Storage.ts"

export const refused = Storage
