// refused: eslint(no-restricted-imports) Tools of the tests stay in test/
import { TestClock } from "effect/testing"

export const refused = TestClock
