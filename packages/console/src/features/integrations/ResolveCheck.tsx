import { segment } from "../../api/request.ts"
import type { CheckName } from "../../state/lists.ts"
import { carryOut, mayRespond } from "../../state/session.ts"
import { reporting } from "./Contact.tsx"
import { ActionButton } from "../../view/forms.tsx"

/** Resolves a check that is not ok, if a sender reports it: on a page that keeps `reporting` current. */
export const ResolveCheck = ({ agent_id, check_id }: CheckName) => {
  const { kind = "watch" } = reporting.useOf(agent_id) ?? {}
  return mayRespond.value && kind !== "watch" ? (
    <ActionButton
      describes="Make it ok: its sender may never report that it is well"
      does={() =>
        carryOut(
          `Resolved ${agent_id}/${check_id}`,
          "POST",
          `ops/v1/checks/${segment(agent_id)}/${segment(check_id)}/resolve`,
        )
      }
    >
      Resolve
    </ActionButton>
  ) : null
}
