// refused: eslint(no-restricted-imports) know the core, its reference storage
import { serve } from "@tocsin/server/serve"

export const refused = serve
