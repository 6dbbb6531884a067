import { linkTo } from "../state/Route.ts"
import { base } from "../state/session.ts"
import { summary } from "../state/summary.ts"
import { CopyButton } from "../view/buttons.tsx"
import { Empty } from "../view/states.tsx"
import { AdmissionList } from "./Admission.tsx"

/** An address within single quotes of a shell. */
const quotable = (address: string): string => address.replace(/\/$/, "").replaceAll("'", "%27")

/** The commands that bring an agent with a check, with this server's address. */
const agentCommand = (address: string): string =>
  `mkdir -p data/agent
echo '{ server: "${quotable(address)}", checks: { disk: { disk: {} } } }' > data/agent/config.yaml
npm run -s agent -- start --config data/agent/config.yaml --state data/agent/state`

/** The commands that install the agent's package for Debian, and show its fingerprint. */
const installCommand = (address: string): string =>
  `sudo apt install ./tocsin-agent_*.deb
sudo sed -i 's|^#server:.*|server: ${quotable(address)}|' /etc/tocsin-agent/config.yaml
sudo systemctl restart tocsin-agent
sudo tocsin-agent fingerprint`

/** The command that sends one result without the agent. */
const shellCommand = (address: string): string =>
  `TOCSIN_URL='${quotable(address)}' sh agent.sh load sh -c 'uptime; exit 0'`

const Command = ({ text }: { readonly text: string }) => (
  <div class="command">
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} />
  </div>
)

/** First steps, shown while there are no agents. */
export const FirstRun = () => (
  <section class="first" aria-labelledby="first">
    <h2 id="first">Bring your first agent</h2>
    <p>
      Run this in a clone of Tocsin, on the host to watch. It watches the disks until you stop it, and prints
      a fingerprint.
    </p>
    <Command text={agentCommand(base)} />
    <details>
      <summary>An installed agent</summary>
      <p>
        <code>npm run package</code> in a clone makes the packages in <code>dist/download</code>. Copy the one
        for Debian to the host, then run this. <code>/etc/tocsin-agent/config.yaml</code> comes with checks to
        change; <code>docs/agent.md</code> has the other packages.
      </p>
      <Command text={installCommand(base)} />
    </details>
    <details>
      <summary>A host with nothing but a shell and curl</summary>
      <p>
        Copy <code>examples/agent.sh</code> from a clone to the host, then run this. It sends one check
        result, and prints a fingerprint.
      </p>
      <Command text={shellCommand(base)} />
    </details>
    <h2>Accept it</h2>
    <p>It appears here within seconds. Compare its fingerprint before you accept it.</p>
    <AdmissionList isFirst />
  </section>
)

/** Without an open incident: nothing is wrong, or nothing was reported yet. */
export const NothingOpen = () => {
  const counts = summary.value
  const checks =
    counts === undefined
      ? 1
      : counts.checks_ok + counts.checks_warning + counts.checks_critical + counts.checks_unknown
  return checks === 0 ? (
    <Empty title="Waiting for the first results …">
      An accepted agent sends them within a minute. <a href={linkTo("agents")}>See the agents</a>
    </Empty>
  ) : (
    <Empty title="Nothing is wrong">Open incidents appear here, the worst first, within 2 seconds.</Empty>
  )
}
