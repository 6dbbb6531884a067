import { AuditListParameters } from "@tocsin/core/contract/Audit"
import { HttpApiEndpoint } from "effect/http-api"
import { Internal } from "./ApiErrors.ts"
import { operation } from "./operation.ts"
import { AuditPage } from "./opsResources.ts"
import { RequiredRole } from "./RequiredRole.ts"

/** The changes that people made (docs/rules.md#audit). */
export const listAudit = HttpApiEndpoint.get("listAudit", "/audit", {
  query: AuditListParameters,
  success: AuditPage,
  error: Internal.wire,
})
  .annotateMerge(
    operation(
      "Operators",
      "List who changed what",
      "Lists the changes that operators, commands, programs and ended times made, newest first.",
    ),
  )
  .annotate(RequiredRole, "read")
