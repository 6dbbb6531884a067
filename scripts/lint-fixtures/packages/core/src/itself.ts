// refused: eslint(no-restricted-imports) Inside a package imports are relative
import { Storage } from "@tocsin/core/ports/Storage"

export const refused = Storage
