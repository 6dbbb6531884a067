import { base } from "../state/session.ts"
import { AdmissionList } from "./Admission.tsx"

/** An address within single quotes of a shell. */
const quotable = (address: string): string => address.replace(/\/$/, "").replaceAll("'", "%27")

/** The commands that bring an agent with a check, with this server's address. */
const agentCommand = (address: string): string =>
  `mkdir -p agent
echo '{ server: "${quotable(address)}", checks: { disk: { disk: {} } } }' > agent/config.yaml
npm run -s agent -- start --config agent/config.yaml --state agent/state`

/** The command that sends one result without the agent. */
const shellCommand = (address: string): string =>
  `TOCSIN_URL='${quotable(address)}' examples/agent.sh load sh -c 'uptime; exit 0'`

const Command = ({ text }: { readonly text: string }) => (
  <div class="command">
    <pre tabIndex={0}>{text}</pre>
    <button type="button" class="quiet" onClick={() => void navigator.clipboard?.writeText(text)}>
      Copy
    </button>
  </div>
)

/** What to do while there are no agents. */
export const FirstRun = () => (
  <>
    <h1>Incidents</h1>
    <section class="first" aria-labelledby="first">
      <h2 id="first">Bring your first agent</h2>
      <p>
        Run this in a clone of Tocsin, on the host to watch. It watches the disks until you stop it, and
        prints a fingerprint.
      </p>
      <Command text={agentCommand(base)} />
      <details>
        <summary>An installed agent</summary>
        <p>
          Set <code>server: {base.replace(/\/$/, "")}</code> in <code>/etc/tocsin-agent/config.yaml</code>,
          then start it:
        </p>
        <Command text="tocsin-agent start" />
      </details>
      <details>
        <summary>A host with nothing but a shell and curl</summary>
        <p>This sends one check result, and prints a fingerprint.</p>
        <Command text={shellCommand(base)} />
      </details>
      <h2>Accept it</h2>
      <p>It appears here within seconds. Compare its fingerprint before you accept it.</p>
      <AdmissionList isFirst />
    </section>
  </>
)
