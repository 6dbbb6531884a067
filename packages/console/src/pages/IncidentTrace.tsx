import { useSignal } from "@preact/signals"
import type { IncidentTrace as Traced } from "@tocsin/client"
import { topicsOf } from "../state/lists.ts"
import { Time } from "../view/states.tsx"
import { useRead } from "../view/usePages.ts"

const Decisions = ({ path }: { readonly path: string }) => (
  <ol class="timeline" aria-label="Decisions">
    {useRead<Traced>(`${path}/trace`, {}, topicsOf("ops/v1/outbox")).value?.entries.map(
      ({ about, at, because, decided, rule }, place) => (
        <li key={place}>
          {at !== null && <Time at={at} isAlone />}
          <span>
            <b>{about}</b> {decided}, because {because} <small>{rule}</small>
          </span>
        </li>
      ),
    )}
  </ol>
)

/** Each decision about an incident with its reason, read when the list is opened (docs/rules.md#traces). */
export const IncidentTrace = ({ path }: { readonly path: string }) => {
  const isOpen = useSignal(false)
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>Decisions</summary>
      {isOpen.value && <Decisions path={path} />}
    </details>
  )
}
