import type { WindowList } from "@tocsin/client"
import { rangeText } from "../../format/times.ts"
import { now } from "../../state/clock.ts"
import { FormButton } from "../../pages/PolicyForm.tsx"
import { useMatched } from "../../view/matched.ts"
import { Time } from "../../view/states.tsx"
import { timesText, WindowForm } from "./WindowForm.tsx"

/** The maintenance windows of the policy: when they come next, and of which checks they are. */
export const Windows = ({ items }: WindowList) => {
  const textOf = useMatched(items.map(({ match }) => match))
  if (items.length === 0) return <p class="lead">The policy has none.</p>
  return (
    <ul class="windows" aria-label="Maintenance windows">
      {items.map(({ comment, for: span, match, name, occurrences, tz, ...times }, place) => (
        <li key={name}>
          <p>
            <b>{name}</b> {comment}{" "}
            <FormButton
              of={WindowForm}
              label="Change"
              describes={`Change ${name}`}
              path={["windows", String(place)]}
            />
          </p>
          <p class="lead">
            {timesText(times)} {tz}, for {span}: {textOf(match)}
          </p>
          <ol class="times" aria-label={`Next times of ${name}`}>
            {occurrences.map(({ starts_at, ends_at }) => (
              <li key={starts_at}>
                {rangeText(starts_at, ends_at, now.value)}{" "}
                {Date.parse(starts_at) > now.value ? <Time at={starts_at} isAlone /> : <b>now</b>}
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ul>
  )
}
