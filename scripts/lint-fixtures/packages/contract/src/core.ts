// refused: eslint(no-restricted-imports) The contract depends on effect alone
import { Storage } from "@tocsin/core/ports/Storage"

export const refused = Storage
