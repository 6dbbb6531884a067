import { useSignal } from "@preact/signals"
import type { Agent } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { numberText } from "../format/times.ts"
import { listOf, MOST } from "../state/lists.ts"
import { routeText, withParameters } from "../state/Route.ts"
import { asBack, route, setParameters } from "../state/location.ts"
import { CopyButton } from "./forms.tsx"
import { Mark } from "./states.tsx"
import { useResource } from "./usePages.ts"

/** The value and the title of a tab, and what its page adds. */
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

interface FilterFieldProps {
  readonly label?: string
  /** Its hint: the searched texts, or an example. */
  readonly what: string
  readonly parameter?: string
}

/** A field that searches the list; `/` leads to the first one. */
export const FilterField = ({ label = "Search", what, parameter = "filter" }: FilterFieldProps) => (
  <label class="inline">
    {label}
    <input
      data-filter
      type="search"
      placeholder={what}
      value={route.value.parameters[parameter] ?? ""}
      onInput={(event) => setParameters({ [parameter]: event.currentTarget.value, selected: "" })}
    />
  </label>
)

/** The moment at which a day of the reader begins, some days later; empty for no day. */
const beginOf = (day: string, later = 0): string => {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number)
  const begin = new Date(year, month - 1, date + later)
  return day === "" || !Number.isFinite(begin.getTime()) ? "" : begin.toISOString()
}

const Day = ({ name, label }: { readonly name: string; readonly label: string }) => (
  <label class="inline">
    {label}
    <input
      type="date"
      value={route.value.parameters[name] ?? ""}
      onChange={(event) => setParameters({ [name]: event.currentTarget.value })}
    />
  </label>
)

/** The moments between which the chosen days lie, in the query of a list. */
export const chosenDays = () => {
  const { from = "", to = "" } = route.value.parameters
  return { from: beginOf(from), to: beginOf(to, 1) }
}

export const Days = () => (
  <span class="days">
    <Day name="from" label="From" />
    <Day name="to" label="to" />
  </span>
)

interface NameFieldProps {
  readonly label: string
  readonly parameter: string
  /** The element that has names to choose. */
  readonly list?: string
  readonly onFocus?: () => void
}

const NameField = ({ label, list, onFocus, parameter }: NameFieldProps) => (
  <label class="inline">
    {label}
    <input
      class="short"
      list={list}
      onFocus={onFocus}
      maxLength={128}
      value={route.value.parameters[parameter] ?? ""}
      onInput={({ currentTarget }) =>
        setParameters({ [parameter]: currentTarget.value.replaceAll(/[^\w.:-]/g, "") })
      }
    />
  </label>
)

/** Begins a list of agents, or of their checks, at an agent: the way to jump in a long one. */
export const BeginAt = () => <NameField label="From agent" parameter="from" />

const LABELS = "labels"

/** The names of the labels that agents have. */
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
      <NameField
        label="Group by label"
        parameter="group"
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
