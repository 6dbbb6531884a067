import type { IncidentDetail } from "@tocsin/client"
import { memberText, subjectOf } from "../state/incidentTimeline.ts"
import { linkTo } from "../state/Route.ts"
import { Labels, Mark, Time } from "../view/states.tsx"
import { ResolveCheck, useSenders } from "./ResolveCheck.tsx"

const memberLink = (member: IncidentDetail["members"][number]): string => {
  const { agent_id, check_id } = subjectOf(member)
  return check_id === undefined ? linkTo("agents", [agent_id]) : linkTo("checks", [agent_id, check_id])
}

/** A member may be a whole agent, which is no check to resolve. */
const ResolveMember = ({
  member,
  senders,
}: {
  readonly member: IncidentDetail["members"][number]
  readonly senders: ReadonlySet<string>
}) => {
  const { agent_id, check_id } = subjectOf(member)
  return check_id === undefined ? null : (
    <ResolveCheck agent_id={agent_id} check_id={check_id} senders={senders} />
  )
}

export const Members = ({ members }: Pick<IncidentDetail, "members">) => {
  const senders = useSenders()
  return (
    <ul class="plain" aria-label="Members">
      {members.map((member) => (
        <li class="row member" key={`${memberText(member)} ${member.joined_at}`}>
          {member.left_at === null ? <Mark state={member.severity} /> : <span class="mark">left</span>}
          <a href={memberLink(member)}>{memberText(member)}</a>
          <span class="subject">{member.summary}</span>
          <span class="notes">
            <Labels labels={member.labels} />
            {member.left_at !== null && <em>left</em>}
          </span>
          <Time at={member.left_at ?? member.joined_at} />
          {member.left_at === null && <ResolveMember member={member} senders={senders} />}
        </li>
      ))}
    </ul>
  )
}
