// refused: eslint(no-restricted-imports) The core imports the root of effect only
import { HttpRouter } from "effect/http"

export const refused = HttpRouter
