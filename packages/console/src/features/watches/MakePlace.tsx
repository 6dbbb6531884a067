import { useSignal } from "@preact/signals"
import type { AgentDownload } from "@tocsin/client"
import { base } from "../../state/base.ts"
import { CopyText } from "../../view/copies.tsx"
import { bound, Field } from "../../view/forms.tsx"
import { useRead } from "../../view/usePages.ts"
import { AddHosts } from "../enrolment/AddHosts.tsx"
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
        A place is an agent whose own configuration says so. Within 30 s it stands among the places, and under{" "}
        <i>From</i>.
      </p>
      {agent === undefined && (
        <>
          <h3>A new host</h3>
          <AddHosts arePlaces />
          <h3>A host with an agent</h3>
        </>
      )}
      <div class="form-row">
        <Field label="It may probe" options={REACHES} {...bound(allow)} />
      </div>
      <p>Paste this on the host of {agent ?? "the agent"}:</p>
      <CopyText text={placeCommand(allow.value)} />
      <p>Without systemd, start the agent again.</p>
      {isLocal(server) && (
        <>
          <p>An agent of a clone: end it, and start it there by these lines, which keep its checks.</p>
          <CopyText text={cloneCommand(server, { allow: allow.value })} />
        </>
      )}
    </>
  )
}
