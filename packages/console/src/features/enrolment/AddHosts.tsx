import type { AgentDownload, EnrolmentWithToken } from "@tocsin/client"
import { enrolmentLines } from "@tocsin/contract/enrolment/enrolmentLines"
import { base } from "../../state/base.ts"
import { call } from "../../state/session.ts"
import type { FormField, Texts } from "../../view/FormField.ts"
import { CopyText } from "../../view/copies.tsx"
import { Form } from "../../view/forms.tsx"
import { cloneCommand, isLocal, placeCommand, REACHES } from "./agentCommands.ts"
import { keptSecret, Mark, ShownOnce } from "../../view/states.tsx"
import { useRead } from "../../view/usePages.ts"

/** Whether others on the way to a server could change what it hands out. */
const isExposed = (server: string): boolean => server.startsWith("http:") && !isLocal(server)

const HANDED_OUT =
  "On the host to watch, paste the line, and the token when it asks for it. It is valid for an hour"
const TRIED =
  "Or try it on the host of this server: paste this line in the clone, which brings its own Node.js"
const INSTALLED = "This line, valid for an hour, starts the agent on a host that has it"

/** Runs the agent of a clone, which needs no configuration. */
const trialLine = (server: string, token: string): string =>
  `TOCSIN_ENROLMENT_TOKEN=${token} npm run -s agent -- start --server ${server} --state data/agent/state`

const PLACES = [["", "nothing (no place)"], ...REACHES] as const

const PLACE = "With any of these, it is a place: watches can be probed from it."

const allowField = (isPlace: boolean): FormField => ({
  label: "For watches, it probes",
  ...(isPlace ? { options: REACHES, initial: REACHES[0][0] } : { options: PLACES, hint: PLACE }),
})

interface AddHostsProps {
  /** Whether their agents are to be places. */
  readonly arePlaces?: boolean
}

const secrets = () => ({ shown: keptSecret(), trial: keptSecret() })

/** A line for one of these is none for the other. */
const LINES = { hosts: secrets(), places: secrets() }

/** The needs of a host that is to run the agent. */
const Needs = ({ files }: Pick<AgentDownload, "files">) => {
  const hasExecutables = files.some((file) => file.startsWith("tocsin-agent-linux-"))
  return (
    <p>
      <b>The host needs</b> Linux with systemd{hasExecutables ? " and glibc" : ", and Node.js 24"}.{" "}
      {!hasExecutables && (
        <small>
          It refuses an older Node.js, and needs none if this server has the agent’s executables in{" "}
          <code>SERVICE_AGENT_DIR</code>.
        </small>
      )}
    </p>
  )
}

/** Makes the lines to paste on a host, whose agent the token admits. */
export const AddHosts = ({ arePlaces = false }: AddHostsProps) => {
  const { failure, value: download } = useRead<AgentDownload>("ops/v1/agent_download")
  const server = download?.url ?? base
  const kind = arePlaces ? "places" : "hosts"
  const { shown, trial } = LINES[kind]
  const add = async ({ allow = "", uses }: Texts) => {
    const body = { uses: Number(uses) }
    const { token } = await call<EnrolmentWithToken>("POST", "ops/v1/enrolments", { body })
    const [line = "", ...others] = enrolmentLines({ server, token, sha256: download?.sha256 })
    const installs = allow === "" ? line : `${line} && (${placeCommand(allow)})`
    shown.value = { title: download === undefined ? INSTALLED : HANDED_OUT, texts: [installs, ...others] }
    const tried = allow === "" ? trialLine(server, token) : cloneCommand(server, { allow, token })
    trial.value = isLocal(server) ? { title: TRIED, texts: [tried] } : undefined
    return { text: "Made a token, which is valid for an hour" }
  }
  return (
    <>
      <p>
        {failure?.code === "not_found"
          ? "This server does not hand out the agent: install its package on the host first. "
          : "One line installs the agent on a host, or upgrades it. "}
        <a href={`${base}console/agent.md`}>The agent</a> runs the checks of its host.
      </p>
      {download !== undefined && <Needs {...download} />}
      {isExposed(server) && (
        <p>
          <Mark state="warning" word="not encrypted" /> The line is only as safe as the network between this
          browser, the host and {server}: serve Tocsin over https.
        </p>
      )}
      {(download ?? failure) && (
        <Form
          fields={{
            uses: { label: "Hosts", type: "number", min: 1, max: 1_000, initial: "1" },
            ...(download !== undefined && { allow: allowField(arePlaces) }),
          }}
          acts={[["Add a host", add, "main"]]}
          keptAs={kind}
        />
      )}
      <ShownOnce of={shown} />
      {shown.value !== undefined && trial.value !== undefined && (
        <div class="once">
          <p>
            <b>{trial.value.title}</b>
          </p>
          {trial.value.texts.map((text) => (
            <CopyText key={text} text={text} />
          ))}
        </div>
      )}
    </>
  )
}
