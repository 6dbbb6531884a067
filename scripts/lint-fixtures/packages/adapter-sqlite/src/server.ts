// refused: eslint(no-restricted-imports) Only the server wires adapters
import { settings } from "@tocsin/server/Settings"

export const refused = settings
