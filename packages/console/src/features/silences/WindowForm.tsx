import { useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import { ChecksField, useChecks } from "../../view/ChecksField.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog } from "../../view/PolicyDialog.tsx"

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
const REPEATS = [["weekly"], ["monthly"], ["once"]] as const
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const WEEKDAYS = DAYS.map((name, day) => [String(day), name] as const)
const MONTHDAYS = Array.from({ length: 28 }, (_, day) => [String(day + 1)] as const)

/** The times of a window as the policy has them; undefined for an hour that is none. */
const timesOf = (
  repeats: string,
  day: string,
  at: string,
): { readonly at: string } | { readonly cron: string } | undefined => {
  if (repeats === "once") return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at) ? { at } : undefined
  const [, hour, minute] = /^(\d\d?):(\d\d)$/.exec(at) ?? []
  if (hour === undefined || minute === undefined) return undefined
  const days = repeats === "monthly" ? `${day} * *` : `* * ${day}`
  return { cron: `${Number(minute)} ${Number(hour)} ${days}` }
}

interface WindowFormProps {
  readonly policy: PolicyInForce
  readonly onClose: () => void
}

/** Writes a maintenance window: when, for how long, and of which checks. */
export const WindowForm = ({ onClose, policy }: WindowFormProps) => {
  const [name, repeats, at] = [useSignal(""), useSignal("weekly"), useSignal("02:00")]
  const [weekday, monthday, span] = [useSignal("0"), useSignal("1"), useSignal("2h")]
  const [checks, zone] = [useSignal(""), useSignal(policy.policy.tz ?? ZONE)]
  const { match, ...offer } = useChecks(checks)
  const times = timesOf(
    repeats.value,
    (repeats.value === "monthly" ? monthday : weekday).value,
    at.value.trim(),
  )
  const missing = [
    ...(name.value.trim() === "" ? ["a name"] : []),
    ...(times === undefined
      ? [repeats.value === "once" ? "at, such as 2026-12-06T02:00" : "at, such as 02:00"]
      : []),
    ...(span.value.trim() === "" ? ["for how long"] : []),
    ...(match.length === 0 ? ["checks"] : []),
  ]
  const value = { name: name.value.trim(), ...times, tz: zone.value.trim(), for: span.value.trim(), match }
  const item = missing.length === 0 ? { key: "windows", value } : undefined
  return (
    <PolicyDialog title="Add a window" {...{ item, missing, onClose, policy }}>
      <div class="form-row">
        <Field label="Name" {...bound(name)} />
        <Field label="Repeats" options={REPEATS} {...bound(repeats)} />
        {repeats.value === "weekly" && <Field label="Day" options={WEEKDAYS} {...bound(weekday)} />}
        {repeats.value === "monthly" && <Field label="Day" options={MONTHDAYS} {...bound(monthday)} />}
        <Field
          label="At"
          placeholder={repeats.value === "once" ? "2026-12-06T02:00" : "02:00"}
          {...bound(at)}
        />
        <Field label="For" {...bound(span)} />
        <ChecksField text={checks} {...offer} />
        <Field label="Zone" {...bound(zone)} />
      </div>
    </PolicyDialog>
  )
}
