import { Schema } from "effect"
import { named } from "../formats/Fields.ts"

export const MonthlyReport = Schema.Struct({
  month: Schema.String.annotateKey({ description: "The one that it is about, such as 2026-11." }),
  state: Schema.Literals(["waiting", "sent", "failed"]).annotateKey({
    description: "failed: not sent within 24 h, or refused for good.",
  }),
  last_error: Schema.NullOr(Schema.String).annotateKey({
    description: "Why the last attempt failed; of a sent one, who did not get it.",
  }),
}).annotate(named("MonthlyReportState", "How the report of a month went."))
