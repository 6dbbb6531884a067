import type { Integration } from "@tocsin/client"
import { segment } from "../api/request.ts"
import { listOf, MOST, readAll } from "../state/lists.ts"
import { carryOut, mayRespond } from "../state/session.ts"
import { ActionButton } from "../view/forms.tsx"
import { useResource } from "../view/usePages.ts"

const NONE: ReadonlySet<string> = new Set()

/** The agents whose checks senders report. Their checks may be resolved by hand. */
export const useSenders = (): ReadonlySet<string> =>
  useResource("senders", ["integrations"], async () => {
    const all = await readAll(listOf<Integration>("ops/v1/integrations", {}, MOST))
    return new Set(all.flatMap(({ kind, name }) => (kind === "watch" ? [] : [name])))
  }).value ?? NONE

interface Bad {
  readonly agent_id: string
  readonly check_id: string
  readonly senders: ReadonlySet<string>
}

/** Resolves a check of an integration that is not ok. */
export const ResolveCheck = ({ agent_id, check_id, senders }: Bad) =>
  mayRespond.value && senders.has(agent_id) ? (
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
