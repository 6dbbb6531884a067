// refused: eslint(no-restricted-imports) The core knows no HTTP
import { TocsinApi } from "@tocsin/contract/api/TocsinApi"

export const refused = TocsinApi
