// refused: eslint(no-restricted-imports) The core imports the root of effect only
import { TestClock } from "effect/testing"

export const refused = TestClock
