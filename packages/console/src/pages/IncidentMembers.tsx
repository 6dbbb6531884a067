import type { IncidentDetail } from "@tocsin/client"
import { memberText, subjectOf } from "../state/incidentTimeline.ts"
import { namesIn } from "../state/names.ts"
import { linkTo } from "../state/Route.ts"
import { reporting } from "../features/integrations/Contact.tsx"
import { Labels, Mark, Time, withoutTitle } from "../view/states.tsx"
import { ResolveCheck } from "../features/integrations/ResolveCheck.tsx"

interface MemberProps {
  readonly member: IncidentDetail["members"][number]
  readonly name: string
}

const Member = ({ member, name }: MemberProps) => {
  const { joined_at, labels, left_at, severity, summary } = member
  const { agent_id, check_id } = subjectOf(member)
  const link = check_id === undefined ? linkTo("agents", [agent_id]) : linkTo("checks", [agent_id, check_id])
  return (
    <li class="row member">
      {left_at === null ? <Mark state={severity} /> : <span class="mark">left</span>}
      <a href={link}>{name}</a>
      <span class="subject">{summary}</span>
      <span class="notes">
        {name === member.title && <em class="label">{memberText(member)}</em>}
        <Labels labels={withoutTitle(labels)} />
        {left_at !== null && <em>left</em>}
      </span>
      <Time at={left_at ?? joined_at} />
      {left_at === null && check_id !== undefined && <ResolveCheck agent_id={agent_id} check_id={check_id} />}
    </li>
  )
}

export const Members = ({ members }: Pick<IncidentDetail, "members">) => {
  reporting.useCurrent()
  const shown = namesIn(members, memberText)
  return (
    <ul class="plain" aria-label="Members">
      {members.map((member) => (
        <Member key={`${memberText(member)} ${member.joined_at}`} member={member} name={shown(member)} />
      ))}
    </ul>
  )
}
