import type { Instant } from "../contract/Instant.ts"
import type { PolicyOptions } from "../ports/Policy.ts"

/** What a simulation supposes of the service; what is absent is as in a service with nothing set. */
export interface SimulationSettings extends Partial<Pick<PolicyOptions, "notifiers" | "deadAfter">> {
  /**
   * How long the clock goes on. To the last receipt unless given: whether agents fell silent after the recording's end is
   * not known.
   */
  readonly until?: Instant | undefined
}

/** What a simulation needs besides: pure functions of the ports. */
export interface SimulationPorts {
  /** As `Hashing.sha256`: names incidents of agents and checks whose names are longer than a key may be. */
  readonly sha256: (text: string) => string
}
