import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { ShownKind } from "@tocsin/contract/integrations/Integrations"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"

/** Deletes the kept mails of an integration that is deleted. Other kinds have none. */
export function* forgetMails(
  unit: UnitOfWork,
  { kind, name }: { readonly kind: ShownKind; readonly name: AgentId },
): Decision<void> {
  if (kind !== "mail") return
  yield* load(unit, { groups: { kept_mail: [name] } })
  const kept = unit.of("kept_mail")
  for (const { id } of kept.group(name)) kept.delete(id)
}
