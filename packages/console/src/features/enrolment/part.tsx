import { AdmissionList } from "../../pages/Admission.tsx"
import type { Part } from "../../parts.ts"
import { base } from "../../state/base.ts"
import { CopyText } from "../../view/forms.tsx"
import { AddHosts } from "./AddHosts.tsx"

/** An address within single quotes of a shell. */
const quotable = (address: string): string => address.replace(/\/$/, "").replaceAll("'", "%27")

/** The commands that run an agent from a clone, with this server's address. */
const cloneCommand = (address: string): string =>
  `mkdir -p data/agent
echo '{ server: "${quotable(address)}", checks: { disk: { disk: {} } } }' > data/agent/config.yaml
npm run -s agent -- start --config data/agent/config.yaml --state data/agent/state`

/** The command that sends one result without the agent. */
const shellCommand = (address: string): string =>
  `TOCSIN_URL='${quotable(address)}' sh agent.sh load sh -c 'uptime; exit 0'`

const Hosts = () => (
  <>
    <AddHosts />
    <details>
      <summary>Without a token: compare fingerprints</summary>
      <p>In a clone of Tocsin, on the host to watch:</p>
      <CopyText text={cloneCommand(base)} />
      <p>
        With nothing but a shell, curl and <code>examples/agent.sh</code>:
      </p>
      <CopyText text={shellCommand(base)} />
    </details>
    <AdmissionList isFirst />
  </>
)

export const part = { ways: [["host", "A host", Hosts]] } satisfies Part
