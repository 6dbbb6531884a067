import { clientFaults } from "./clients.ts"
import { clockFaults } from "./clocks.ts"
import { diskFaults } from "./disk.ts"
import type { Fault } from "./Fault.ts"
import { failoverFaults } from "./failover.ts"
import { fileFaults } from "./files.ts"
import { limitFaults } from "./limits.ts"
import { networkFaults } from "./network.ts"
import { postgresFaults } from "./postgres.ts"
import { powerFaults } from "./powerLoss.ts"
import { processFaults } from "./process.ts"
import { receiverFaults } from "./receivers.ts"

/** Faults of one kind, as a section of the page. */
export interface FaultKind {
  readonly title: string
  readonly faults: ReadonlyArray<Fault>
}

/** Every fault, in the order of the page. */
export const allFaults: ReadonlyArray<FaultKind> = [
  { title: "The process", faults: processFaults },
  { title: "PostgreSQL", faults: postgresFaults },
  { title: "The network to PostgreSQL", faults: networkFaults },
  { title: "Failover to a standby", faults: failoverFaults },
  { title: "The power", faults: powerFaults },
  { title: "The disk", faults: diskFaults },
  { title: "The database file", faults: fileFaults },
  { title: "Clocks and pauses", faults: clockFaults },
  { title: "Receivers", faults: receiverFaults },
  { title: "Clients", faults: clientFaults },
  { title: "The machine", faults: limitFaults },
]
