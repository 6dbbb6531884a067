import { AdmissionList } from "../../pages/Admission.tsx"
import type { Part } from "../../parts.ts"
import { base } from "../../state/base.ts"
import { CopyText } from "../../view/copies.tsx"
import { AddHosts } from "./AddHosts.tsx"
import { cloneCommand, shellCommand } from "./agentCommands.ts"

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
