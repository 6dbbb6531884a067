// refused: eslint(no-restricted-imports) Tools of the tests stay in test/
import { it } from "@effect/vitest"

export const refused = it
