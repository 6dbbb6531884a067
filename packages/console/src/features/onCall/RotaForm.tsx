import { useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import { now } from "../../state/clock.ts"
import { Choices } from "../../view/boxes.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog } from "../../view/PolicyDialog.tsx"

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The next Monday at nine, by the reader's clock. */
const nextMonday = (): string => {
  const day = new Date(now.peek())
  day.setDate(day.getDate() + ((8 - day.getDay()) % 7 || 7))
  const two = (part: number) => String(part).padStart(2, "0")
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}T09:00`
}

interface RotaFormProps {
  readonly policy: PolicyInForce
  readonly onClose: () => void
}

/** Writes a rota: who is on call, one turn after the other. */
export const RotaForm = ({ onClose, policy }: RotaFormProps) => {
  const [name, every, from] = [useSignal(""), useSignal("7d"), useSignal(nextMonday())]
  const order = useSignal<ReadonlyArray<string>>([])
  const rotas = policy.policy.rotas ?? {}
  const isTaken = Object.hasOwn(rotas, name.value) || policy.receivers.some((one) => one.name === name.value)
  const missing = [
    ...(name.value.trim() === "" ? ["a name"] : isTaken ? ["a name that no receiver and no rota has"] : []),
    ...(order.value.length === 0 ? ["an order"] : []),
  ]
  const value = {
    ...(policy.policy.tz === undefined && { tz: ZONE }),
    order: order.value,
    every: every.value.trim(),
    from: from.value.trim(),
  }
  const item = missing.length === 0 ? { key: "rotas", name: name.value.trim(), value } : undefined
  return (
    <PolicyDialog title="Add a rota" {...{ item, missing, onClose, policy }}>
      <div class="form-row">
        <Field label="Name" {...bound(name)} />
        <span class="filters" role="group" aria-label="Order">
          Order
          <Choices names={policy.receivers.map((one) => one.name).toSorted()} of={order} />
        </span>
        <Field label="Every" {...bound(every)} />
        <Field label="From" {...bound(from)} />
      </div>
      {order.value.length > 0 && <p class="lead">Turns: {order.value.join(", then ")}</p>}
    </PolicyDialog>
  )
}
