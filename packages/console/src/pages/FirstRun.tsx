import { base } from "../state/session.ts"
import { AdmissionList } from "./Admission.tsx"

/** The command that brings one agent, with this server's address. */
const firstCommand = (address: string): string =>
  `TOCSIN_URL='${address.replace(/\/$/, "").replaceAll("'", "%27")}' examples/agent.sh load sh -c 'uptime; exit 0'`

/** What to do while there are no agents. */
export const FirstRun = () => {
  const command = firstCommand(base)
  return (
    <>
      <h1>Incidents</h1>
      <section class="first" aria-labelledby="first">
        <h2 id="first">Bring your first agent</h2>
        <p>
          Run this in a clone of Tocsin, on the host to watch. It sends one check result, and prints a
          fingerprint.
        </p>
        <pre tabIndex={0}>{command}</pre>
        <button type="button" class="quiet" onClick={() => void navigator.clipboard?.writeText(command)}>
          Copy
        </button>
        <h2>Accept it</h2>
        <p>It appears here within seconds. Compare its fingerprint before you accept it.</p>
        <AdmissionList isFirst />
      </section>
    </>
  )
}
