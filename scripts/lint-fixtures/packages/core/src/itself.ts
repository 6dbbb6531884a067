// refused: eslint(no-restricted-imports) Inside a package imports are relative
import { Storage } from "@tocsin/core/kernel/ports/Storage"

export const refused = Storage
