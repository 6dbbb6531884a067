import { Effect } from "effect"
import type { AuditEntry } from "@tocsin/contract/audit/Audit"
import { isAgentId, isCheckId } from "@tocsin/contract/formats/Identifiers"
import type { Page } from "../../kernel/engine/lists/readPage.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { openerTitles } from "../notifications/incidentTitles.ts"

/** The check or the agent that a change is about, by its first subject. */
const aboutOf = ({ id, subjects: [first] }: AuditEntry) => {
  if (first === undefined || (first.kind !== "check" && first.kind !== "agent")) return []
  const [agent, check = HEARTBEAT] = first.id.split("/")
  const isOfCheck = isCheckId(check)
  if (!isAgentId(agent) || (check !== HEARTBEAT && !isOfCheck)) return []
  return [{ id, opener_agent_id: agent, opener_check_id: isOfCheck ? check : HEARTBEAT }]
}

/** Changes with the titles that their first subjects have now (docs/rules.md#audit). */
export const withSubjectTitles =
  (storage: Pick<Storage["Service"], "agent" | "rows">) => (page: Page<AuditEntry>) =>
    Effect.map(openerTitles(storage, page.items.flatMap(aboutOf)), (titles) => ({
      ...page,
      items: page.items.map((item) => {
        const title = titles.get(item.id)
        const [first, ...others] = item.subjects
        return title === undefined || first === undefined
          ? item
          : { ...item, subjects: [{ ...first, title }, ...others] }
      }),
    }))
