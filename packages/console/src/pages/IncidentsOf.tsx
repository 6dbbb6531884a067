import type { HeldIncident } from "@tocsin/client"
import { endState, subjectText } from "../state/incidentActions.ts"
import { namesIn } from "../state/names.ts"
import type { Answered } from "../state/Pages.ts"
import { linkTo } from "../state/Route.ts"
import { mainLink, saidLink } from "../view/rowLinks.tsx"
import { NotifiedMark, useReaches } from "../view/NotifiedMarks.tsx"
import { Mark, ReadingNote, Time } from "../view/states.tsx"
import type { Reading } from "../view/usePages.ts"

interface IncidentsOfProps {
  readonly label: string
  readonly reading: Reading<Answered<HeldIncident>>
  readonly none: string
  /** Whether they are of one check, which then goes without saying. */
  readonly isOfCheck?: boolean
  /** The address of all of them, if a page about one subject has not all. */
  readonly more?: string
}

/** The incidents of a check or an agent. */
export const IncidentsOf = ({ isOfCheck = false, label, reading, none, more }: IncidentsOfProps) => {
  useReaches()
  const { value } = reading
  const shown = namesIn(value?.items, subjectText)
  return (
    <>
      <ReadingNote reading={reading} />
      {value?.items.length === 0 && <p class="lead">{none}</p>}
      <ul class="plain" aria-label={label}>
        {value?.items.map((incident) => (
          <li class="row member" key={incident.id}>
            <Mark
              state={incident.state === "open" ? incident.severity : endState(incident)}
              word={incident.state === "open" ? incident.severity : "resolved"}
            />
            {mainLink(
              linkTo("incidents", [incident.id]),
              (isOfCheck ? incident.summary : undefined) ?? shown(incident),
              subjectText(incident),
            )}
            {!isOfCheck && saidLink(linkTo("incidents", [incident.id]), incident.summary)}
            <NotifiedMark incident={incident} />
            <Time at={incident.opened_at} />
          </li>
        ))}
      </ul>
      {more !== undefined && typeof value?.next_cursor === "string" && (
        <p>
          <a href={more}>All of its incidents</a>
        </p>
      )}
    </>
  )
}
