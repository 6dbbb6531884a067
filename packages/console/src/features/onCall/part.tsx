import type { IncidentDetail, RotaPlan } from "@tocsin/client"
import type { Part } from "../../parts.ts"
import { useRead } from "../../view/usePages.ts"
import { OnCall } from "./OnCall.tsx"
import { namesText, rotaPath } from "./rotaActions.ts"

const rotasOf = ({ deliveries }: IncidentDetail) =>
  Array.from(new Set(deliveries.flatMap(({ rotas = [] }) => rotas)))

/** Who was on call in a rota when an incident opened; nothing if the policy has lost the rota since. */
const OnCallThen = ({ from, rota }: { readonly from: string; readonly rota: string }) => {
  const to = new Date(Date.parse(from) + 1_000).toISOString()
  const [turn] = useRead<RotaPlan>(rotaPath(rota), { from, to }).value?.turns ?? []
  if (turn === undefined) return null
  return (
    <li>
      On call in {rota} when it opened, by the present policy: {namesText(turn.receivers)}.
    </li>
  )
}

export const part = {
  pages: [["on-call 0", OnCall]],
  incident: {
    reasons: (detail) =>
      rotasOf(detail).map((rota) => <OnCallThen key={rota} rota={rota} from={detail.incident.opened_at} />),
  },
} satisfies Part
