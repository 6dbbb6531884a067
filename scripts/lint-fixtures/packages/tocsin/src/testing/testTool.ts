// refused: eslint(no-restricted-imports) works with any test runner
import { it } from "vitest"

export const refused = it
