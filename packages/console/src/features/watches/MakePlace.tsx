import { useSignal } from "@preact/signals"
import type { AgentDownload } from "@tocsin/client"
import { base } from "../../state/base.ts"
import { linkTo } from "../../state/Route.ts"
import { CopyText } from "../../view/copies.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { useRead } from "../../view/usePages.ts"
import { cloneCommand, isLocal, placeCommand, REACHES } from "../enrolment/agentCommands.ts"

interface MakePlaceProps {
  /** Without one, any agent. */
  readonly agent?: string
}

/** The commands that make an agent a place: nothing but its own configuration does. */
export const MakePlace = ({ agent }: MakePlaceProps) => {
  const allow = useSignal<string>(REACHES[0][0])
  const { value: download } = useRead<AgentDownload>("ops/v1/agent_download")
  const server = download?.url ?? base
  return (
    <>
      <p>
        A place is an agent whose own configuration says so: no server can make it one. It asks for its
        watches within 30 s, and then stands among the places and under <i>From</i>.
      </p>
      {agent === undefined && (
        <p>
          On a host without an agent: <a href={linkTo("admission")}>Add a host</a>
          {download && ", and choose there what it probes for watches"}. An agent that runs already needs the
          command below.
        </p>
      )}
      <div class="form-row">
        <Field label="It may probe" options={REACHES} {...bound(allow)} />
      </div>
      <p>Paste this on {agent === undefined ? "the host of an agent" : `the host of ${agent}`}:</p>
      <CopyText text={placeCommand(allow.value)} />
      <p>Where systemd does not run, start the agent again yourself.</p>
      {isLocal(server) && (
        <>
          <p>
            An agent of a clone: end it, and start it again by these lines, in the clone. They keep its
            checks.
          </p>
          <CopyText text={cloneCommand(server, { allow: allow.value })} />
        </>
      )}
    </>
  )
}
