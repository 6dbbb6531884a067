import type { IncidentOptions } from "../../heart/incidents/incidentOptions.ts"
import type { IntegrationKind } from "@tocsin/contract/integrations/Integrations"
import type { MailInput } from "./mail/MailInput.ts"
import type * as Instant from "@tocsin/contract/formats/Instant"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import { KINDS } from "./kinds.ts"
import { invalid, type Reading, type Refusal, type SenderRequest } from "./Report.ts"

interface Asked {
  readonly incidents: Pick<IncidentOptions, "sha256">
  readonly kind: IntegrationKind
  readonly request: SenderRequest
  readonly mail?: MailInput | undefined
}

export const readRequest = (
  { incidents: { sha256 }, kind, mail, request }: Asked,
  { name, options }: Pick<IntegrationRecord, "name" | "options">,
  now: Instant.Instant,
): Reading | Refusal => {
  if (mail !== undefined) {
    const decision = mail.decide(options)
    return { reports: decision.outcome === "applied" ? [decision.report] : [], refusals: [], heard: [] }
  }
  const { methods } = options
  return methods === undefined || methods.some((allowed) => allowed === request.method)
    ? KINDS[kind].translate(request, { name, options, now, sha256 })
    : invalid(`method not allowed; use ${methods.join(", ")}`)
}
