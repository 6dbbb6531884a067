import { ZONE } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { useDraft } from "../../state/drafts.ts"
import type { Policy } from "../../state/policyEntries.ts"
import { asName, nameHint } from "../../state/names.ts"
import { Choices } from "../../view/boxes.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog, type PolicyFormProps, useEntry } from "../../view/PolicyDialog.tsx"

type PolicyRota = NonNullable<Policy["rotas"]>[string]

/** The next Monday at nine, by the reader's clock. */
const nextMonday = (): string => {
  const day = new Date(now.peek())
  day.setDate(day.getDate() + ((8 - day.getDay()) % 7 || 7))
  const two = (part: number) => String(part).padStart(2, "0")
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}T09:00`
}

/** The turns of which each is one receiver; undefined where one is several, which boxes cannot say. */
const singles = (order: ReadonlyArray<unknown>): ReadonlyArray<string> | undefined =>
  order.every((turn) => typeof turn === "string") ? order : undefined

const nameFault = (name: string, { policy, receivers }: PolicyFormProps["policy"]): ReadonlyArray<string> => {
  if (name === "") return ["a name"]
  const isTaken = Object.hasOwn(policy.rotas ?? {}, name) || receivers.some((one) => one.name === name)
  return isTaken ? ["a name that no receiver and no rota has"] : []
}

/** Writes a rota: who is on call, one turn after the other. */
export const RotaForm = (props: PolicyFormProps) => {
  const { name: form, path, policy } = props
  const entry = useEntry<PolicyRota>(props)
  const former = entry.value?.value
  const name = useDraft(form, "name", path?.[1] ?? "")
  const every = useDraft(form, "every", former?.every ?? "7d")
  const from = useDraft(form, "from", former?.from ?? nextMonday())
  const turns = singles(former?.order ?? [])
  const order = useDraft(form, "order", turns ?? [])
  const { every: _, from: __, order: written, ...others } = former ?? {}
  const kept = turns === undefined ? { order: written, ...others } : others
  const called = path?.[1] ?? asName(name.value.trim(), "_")
  const missing = [
    ...(path === undefined ? nameFault(called, policy) : []),
    ...(turns !== undefined && order.value.length === 0 ? ["an order"] : []),
  ]
  const value = {
    ...(path === undefined && policy.policy.tz === undefined && { tz: ZONE }),
    order: order.value,
    ...kept,
    every: every.value.trim(),
    from: from.value.trim(),
  }
  return (
    <PolicyDialog
      {...props}
      title={path === undefined ? "Add a rota" : `Change ${name.value}`}
      path={["rotas", called]}
      {...{ entry, kept, missing, value }}
    >
      <div class="form-row">
        <Field label="Name" hint={nameHint(name.value, "_")} disabled={path !== undefined} {...bound(name)} />
        {turns !== undefined && (
          <span class="filters" role="group" aria-label="Order">
            Order
            <Choices
              names={policy.receivers.map((one) => one.name).toSorted()}
              chosen={order.value}
              onChange={(chosen) => (order.value = chosen)}
            />
          </span>
        )}
        <Field label="Every" {...bound(every)} />
        <Field label="From" {...bound(from)} />
      </div>
      {order.value.length > 0 && <p class="lead">Turns: {order.value.join(", then ")}</p>}
    </PolicyDialog>
  )
}
