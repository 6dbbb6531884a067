import type { IncidentDetail } from "@tocsin/client"
import type { Part } from "../../parts.ts"
import { memberText, subjectOf } from "../../state/incidentTimeline.ts"
import { CheckNumbers } from "./CheckNumbers.tsx"
import { CheckPicture } from "./CheckPicture.tsx"

/** So many checks show their numbers: those that have been in it the longest. */
const MOST_MEASURED = 3
const HALF_A_DAY = 43_200_000

/** The numbers of an incident's checks from half a day before its opening to half a day after it. */
const Numbers = ({ incident, members }: Pick<IncidentDetail, "incident" | "members">) => {
  const checks = members.flatMap((member) => {
    const { agent_id, check_id } = subjectOf(member)
    return check_id === undefined ? [] : [{ agent_id, check_id, name: member.title ?? memberText(member) }]
  })
  return (
    <section>
      {checks.slice(0, MOST_MEASURED).map(({ name, ...check }) => (
        <CheckNumbers
          key={`${check.agent_id}/${check.check_id}`}
          {...check}
          title={`${name} around its opening`}
          length={2 * HALF_A_DAY}
          end={Date.parse(incident.opened_at) + HALF_A_DAY}
          steps={6}
          incidents={[incident]}
        />
      ))}
    </section>
  )
}

export const part = {
  check: {
    below: ({ found, ...name }) =>
      (found?.check.status ?? null) !== null && (
        <CheckPicture {...name} late_severity={found?.check.late_severity} />
      ),
  },
  incident: { below: Numbers },
} satisfies Part
