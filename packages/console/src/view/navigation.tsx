import { useSignal } from "@preact/signals"
import type { Agent } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { numberText } from "../format/times.ts"
import { listOf, MOST } from "../state/lists.ts"
import { routeText, withParameters } from "../state/Route.ts"
import { asBack, route, setParameters } from "../state/location.ts"
import { CopyButton } from "./copies.tsx"
import { Mark } from "./states.tsx"
import { useResource } from "./usePages.ts"

type Tab = readonly [value: string, title: ComponentChildren, ...ReadonlyArray<unknown>]

interface TabsProps {
  readonly label: string
  readonly parameter: string
  readonly tabs: ReadonlyArray<Tab>
  readonly current: string
  readonly children?: ComponentChildren
}

/** The tab that an address asks for; the first one, if it has none of them. */
export const chosen = <First extends Tab, Other extends Tab>(
  tabs: readonly [First, ...ReadonlyArray<Other>],
  value: string | undefined,
): First | Other => tabs.find(([each]) => each === value) ?? tabs[0]

export const Tabs = ({ label, parameter, tabs, current, children }: TabsProps) => (
  <div class="tabs" role="group" aria-label={label}>
    {tabs.map(([value, title]) => (
      <a
        key={value}
        href={routeText(withParameters(route.value, { [parameter]: value, selected: "" }))}
        aria-current={value === current ? "true" : undefined}
      >
        {title}
      </a>
    ))}
    {children}
  </div>
)

interface TallyProps {
  readonly parameter: string
  readonly counts: ReadonlyArray<readonly [state: string, count: number]>
}

/** Counts by state, each of which is a filter. The one in force leads back to all. */
export const Tally = ({ parameter, counts }: TallyProps) => {
  const current = route.value.parameters[parameter] ?? ""
  return (
    <div class="tally" role="group" aria-label="Counts, as filters">
      {counts.map(([state, count]) => (
        <a
          key={state}
          href={routeText(
            withParameters(route.value, { [parameter]: state === current ? "" : state, selected: "" }),
          )}
          aria-current={state === current ? "true" : undefined}
        >
          <Mark state={state} /> {numberText(count)}
        </a>
      ))}
    </div>
  )
}

/** The value of a parameter, and what a field does to it: the selected rows may not be there any more. */
export const parameterOf = (name: string) => ({
  value: route.value.parameters[name] ?? "",
  onText: (text: string) => setParameters({ [name]: text, selected: "" }),
})

interface InlineProps {
  readonly label: string
  readonly parameter: string
  readonly type?: "date" | "search"
  readonly placeholder?: string
  /** The element that has names to choose. */
  readonly list?: string
  readonly onFocus?: () => void
  /** Whether it takes only the letters of names, of which the longest have 128. */
  readonly isOfName?: boolean
}

const Inline = ({ label, parameter, isOfName = false, ...input }: InlineProps) => {
  const { value, onText } = parameterOf(parameter)
  return (
    <label class="inline">
      {label}
      <input
        {...input}
        {...(isOfName && { class: "short", maxLength: 128 })}
        value={value}
        onInput={({ currentTarget: { value: text } }) =>
          onText(isOfName ? text.replaceAll(/[^\w.:-]/g, "") : text)
        }
      />
    </label>
  )
}

interface FilterFieldProps {
  readonly label?: string
  /** Its hint: the searched texts, or an example. */
  readonly what: string
  readonly parameter?: string
}

/** A field that searches the list; `/` leads to the first one. */
export const FilterField = ({ label = "Search", what, parameter = "filter" }: FilterFieldProps) => (
  <Inline label={label} parameter={parameter} type="search" placeholder={what} />
)

/** The moment at which a day of the reader begins, some days later; empty for no day. */
const beginOf = (day: string, later = 0): string => {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number)
  const begin = new Date(year, month - 1, date + later)
  return day === "" || !Number.isFinite(begin.getTime()) ? "" : begin.toISOString()
}

/** The moments between which the chosen days lie, in the query of a list. */
export const chosenDays = () => {
  const { from = "", to = "" } = route.value.parameters
  return { from: beginOf(from), to: beginOf(to, 1) }
}

export const Days = () => (
  <span class="days">
    <Inline label="From" parameter="from" type="date" />
    <Inline label="to" parameter="to" type="date" />
  </span>
)

/** Begins a list of agents, or of their checks, at an agent: the way to jump in a long one. */
export const BeginAt = () => <Inline label="From agent" parameter="from" isOfName />

const LABELS = "labels"

const LabelNames = () => {
  const { value = [] } = useResource(LABELS, ["agents"], async () => {
    const { items } = await listOf<Agent>("ops/v1/agents", {}, MOST).read(undefined)
    return Array.from(new Set(items.flatMap(({ labels = {} }) => Object.keys(labels)))).toSorted()
  })
  return (
    <datalist id={LABELS}>
      {value.map((name) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}

/** Shows a list in groups by a label. It offers those that exist, once the reader comes to it. */
export const GroupBy = () => {
  const isUsed = useSignal(false)
  return (
    <>
      <Inline
        label="Group by label"
        parameter="group"
        isOfName
        list={LABELS}
        onFocus={() => (isUsed.value = true)}
      />
      {isUsed.value && <LabelNames />}
    </>
  )
}

export const BackLink = ({ to, name = "Back" }: { readonly to: string; readonly name?: string }) => (
  <p class="crumb">
    <a href={to} onClick={() => asBack(to)}>
      ← {name}
    </a>
    <CopyButton label="Copy link" />
  </p>
)
