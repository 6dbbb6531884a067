import { Schema } from "effect"
import { named } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { MOST_LINE_CHECKS, PageName } from "./PublicPages.ts"

export const CheckedLine = Schema.Struct({
  page: PageName,
  line: Schema.String.annotateKey({ description: "Its id, or the one made of its name." }),
  checks: Schema.Array(Schema.Struct({ agent_id: AgentId, check_id: CheckId })).annotateKey({
    description: `Of all checks that match now, the first ${MOST_LINE_CHECKS}: those that the line has.`,
  }),
}).annotate(named("CheckedLine", "A line of a public page, and the checks whose worst state it has."))
export type CheckedLine = typeof CheckedLine.Type
