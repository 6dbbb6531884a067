// refused: eslint(no-restricted-imports) The contract depends on effect alone
import { Storage } from "@tocsin/core/kernel/ports/Storage"

export const refused = Storage
