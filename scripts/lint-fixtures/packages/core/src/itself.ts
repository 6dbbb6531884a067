// refused: eslint(no-restricted-imports) Inside a package imports are relative
import { AgentId } from "@tocsin/core/contract/Identifiers"

export const refused = AgentId
