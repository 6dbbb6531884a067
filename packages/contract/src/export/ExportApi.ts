import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { ExportParameters } from "./Export.ts"
import { RateLimited } from "../api/ApiErrors.ts"
import { operatorsGroup, role } from "../api/operation.ts"

const Lines = Schema.String.annotate({
  description:
    "One JSON object a line: rows, after each 1,000 of them a line with a cursor, and last a line with a cursor and end. An answer without that was cut.",
}).pipe(HttpApiSchema.asText({ contentType: "application/x-ndjson" }))

/** Rows of the storage for other systems (docs/rules.md#export). */
export class ExportApi extends operatorsGroup(
  "export",
  role.read.get("exportRows", "/export", {
    query: ExportParameters,
    success: Lines,
    error: RateLimited.wire,
  }),
) {}
