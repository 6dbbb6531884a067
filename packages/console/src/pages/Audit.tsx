import { useSignal } from "@preact/signals"
import type { AuditEntry } from "@tocsin/client"
import { listOf } from "../state/lists.ts"
import { route, setParameters } from "../state/location.ts"
import { Listing } from "../view/Listing.tsx"
import { Empty } from "../view/states.tsx"
import { Time } from "../view/marks.tsx"
import { usePages } from "../view/usePages.ts"

const subjectsText = (subjects: AuditEntry["subjects"]): string => {
  const [first] = subjects
  if (first === undefined) return ""
  const name = `${first.kind} ${first.id}`
  return subjects.length === 1 ? name : `${name} and ${subjects.length - 1} more`
}

const parametersText = (parameters: AuditEntry["parameters"]): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(", ")

const FILTERS = [
  ["actor", "Filter by actor", "actor"],
  ["action", "Filter by action", "action, such as agent.accepted"],
  ["subject", "Filter by the ID of what changed", "ID of what changed"],
] as const

/** A filter that the API takes only whole, so it is applied on Enter or when the field is left. */
const Filter = ({
  name,
  label,
  placeholder,
}: {
  readonly name: string
  readonly label: string
  readonly placeholder: string
}) => {
  const given = route.value.parameters[name] ?? ""
  const typed = useSignal(given)
  return (
    <label>
      <span class="unseen">{label}</span>
      <input
        data-filter
        type="search"
        placeholder={placeholder}
        value={typed}
        onInput={(event) => (typed.value = event.currentTarget.value)}
        onChange={() => setParameters({ [name]: typed.value.trim() })}
      />
    </label>
  )
}

/** The audit of all changes, newest first. */
export const Audit = () => {
  const { actor, action, subject } = route.value.parameters
  const listed = usePages(listOf<AuditEntry>("ops/v1/audit", { actor, action, subject }))
  const isFiltered = [actor, action, subject].some((text = "") => text !== "")
  return (
    <>
      <h1>Audit</h1>
      <div class="filters">
        {FILTERS.map(([name, label, placeholder]) => (
          <Filter key={name} name={name} label={label} placeholder={placeholder} />
        ))}
      </div>
      <Listing
        label="Changes"
        listed={listed}
        keyOf={({ id }) => id}
        size="tall"
        empty={
          isFiltered ? (
            <Empty title="No change matches">Filters compare whole words.</Empty>
          ) : (
            <Empty title="No changes yet">Each change that somebody makes is recorded here.</Empty>
          )
        }
      >
        {(entry) => (
          <div class="row audit" data-id={entry.id}>
            <b>{entry.actor}</b>
            <span class="action">{entry.action}</span>
            <span class="subject">
              {subjectsText(entry.subjects)} <small>{parametersText(entry.parameters)}</small>
            </span>
            <span class="notes">
              <em>{entry.via}</em>
            </span>
            <Time at={entry.at} />
          </div>
        )}
      </Listing>
    </>
  )
}
