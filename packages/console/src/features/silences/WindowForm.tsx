import { ZONE } from "../../format/times.ts"
import { useDraft } from "../../state/drafts.ts"
import type { Policy } from "../../state/policyEntries.ts"
import { asName, nameHint } from "../../state/names.ts"
import { ChecksField, useChecks } from "../../view/ChecksField.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { PolicyDialog, type PolicyFormProps, useEntry } from "../../view/PolicyDialog.tsx"

type PolicyWindow = NonNullable<Policy["windows"]>[number]

const REPEATS = [["weekly"], ["monthly"], ["once"]] as const
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const WEEKDAYS = DAYS.map((name, day) => [String(day), name] as const)
const MONTHDAYS = Array.from({ length: 28 }, (_, day) => [String(day + 1)] as const)

interface Times {
  readonly repeats: string
  readonly weekday: string
  readonly monthday: string
  readonly at: string
}
const FIRST: Times = { repeats: "weekly", weekday: "0", monthday: "1", at: "02:00" }

/** The times of a window as the policy has them; undefined for an hour that is none. */
const writtenTimes = ({
  at,
  monthday,
  repeats,
  weekday,
}: Times): { readonly at: string } | { readonly cron: string } | undefined => {
  if (repeats === "once") return /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at) ? { at } : undefined
  const [, hour, minute] = /^(\d\d?):(\d\d)$/.exec(at) ?? []
  if (hour === undefined || minute === undefined) return undefined
  const days = repeats === "monthly" ? `${monthday} * *` : `* * ${weekday}`
  return { cron: `${Number(minute)} ${Number(hour)} ${days}` }
}

/** The times of a window as the fields have them; undefined where they cannot say them. */
const timesOf = ({ at, cron = "" }: Pick<PolicyWindow, "at" | "cron">): Times | undefined => {
  if (at !== undefined) return { ...FIRST, repeats: "once", at }
  const [, minute = "", hour = "", monthday = "", weekday = ""] =
    /^(\d\d?) (\d\d?) (?:(\d\d?) \* \*|\* \* ([0-6]))$/.exec(cron) ?? []
  const clock = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`
  const times =
    weekday === "" ? { ...FIRST, repeats: "monthly", monthday, at: clock } : { ...FIRST, weekday, at: clock }
  return MONTHDAYS.some(([day]) => day === times.monthday) ? times : undefined
}

/** The times of a window in words, where the fields can say them. */
export const timesText = (window: Pick<PolicyWindow, "at" | "cron">): string => {
  const times = timesOf(window)
  if (times === undefined) return window.cron ?? ""
  const { at, monthday, repeats, weekday } = times
  if (repeats === "once") return `once, ${at}`
  return `${repeats}, ${repeats === "weekly" ? DAYS[Number(weekday)] : `on day ${monthday}`} at ${at}`
}

const useFields = ({ name: form, policy: { policy } }: PolicyFormProps, former?: PolicyWindow) => ({
  name: useDraft(form, "name", former?.name ?? ""),
  times: useDraft(form, "times", former === undefined ? FIRST : timesOf(former)),
  span: useDraft(form, "span", former?.for ?? "2h"),
  checks: useChecks(form, former?.match),
  zone: useDraft(form, "zone", former === undefined ? (policy.tz ?? ZONE) : (former.tz ?? "")),
})

type Fields = ReturnType<typeof useFields>

const TimeFields = ({ of }: { readonly of: Fields["times"] }) => {
  const times = of.value
  if (times === undefined) return null
  const field = (name: keyof Times) => ({
    value: times[name],
    onText: (text: string) => (of.value = { ...times, [name]: text }),
  })
  const { repeats } = times
  return (
    <>
      <Field label="Repeats" options={REPEATS} {...field("repeats")} />
      {repeats === "weekly" && <Field label="Day" options={WEEKDAYS} {...field("weekday")} />}
      {repeats === "monthly" && <Field label="Day" options={MONTHDAYS} {...field("monthday")} />}
      <Field label="At" placeholder={repeats === "once" ? "2026-12-06T02:00" : "02:00"} {...field("at")} />
    </>
  )
}

const missingIn = ({ checks, name, span, times }: Fields): ReadonlyArray<string> => [
  ...(asName(name.value.trim(), "._-") === "" ? ["a name"] : []),
  ...(times.value !== undefined && writtenTimes(times.value) === undefined
    ? [times.value.repeats === "once" ? "at, such as 2026-12-06T02:00" : "at, such as 02:00"]
    : []),
  ...(span.value.trim() === "" ? ["for how long"] : []),
  ...(checks.match.length === 0 ? ["checks"] : []),
]

/** Writes a maintenance window: when, for how long, and of which checks. */
export const WindowForm = (props: PolicyFormProps) => {
  const entry = useEntry<PolicyWindow>(props)
  const former = entry.value?.value
  const fields = useFields(props, former)
  const { checks, name, span, times, zone } = fields
  const { at: _, cron, for: __, match: ___, name: ____, tz: _____, ...others } = former ?? {}
  const kept = times.value === undefined && cron !== undefined ? { cron, ...others } : others
  const value = {
    name: asName(name.value.trim(), "._-"),
    ...(times.value && writtenTimes({ ...times.value, at: times.value.at.trim() })),
    ...(zone.value.trim() !== "" && { tz: zone.value.trim() }),
    for: span.value.trim(),
    match: checks.match,
    ...kept,
  }
  return (
    <PolicyDialog
      {...props}
      isAwaited={checks.isAwaited}
      isOfNone={checks.isOfNone}
      title={former === undefined ? "Add a window" : `Change ${former.name}`}
      path={["windows", "-"]}
      {...{ entry, kept, value }}
      missing={missingIn(fields)}
    >
      <div class="form-row">
        <Field label="Name" hint={nameHint(name.value, "._-")} {...bound(name)} />
        <TimeFields of={times} />
        <Field label="For" {...bound(span)} />
        <ChecksField {...checks.field} />
        <Field label="Zone" {...bound(zone)} />
      </div>
    </PolicyDialog>
  )
}
