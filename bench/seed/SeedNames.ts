import type { Dialect } from "./Dialect.ts"
import { acceptedAgents, type SeedSize } from "./SeedSize.ts"

/** The kinds of IDs; no two kinds share one. */
const KINDS = {
  registration: 1,
  formerRegistration: 2,
  incidentOfCheck: 3,
  sharedIncident: 4,
  incidentOfAgent: 5,
  resolvedIncident: 6,
  firing: 7,
  resolution: 8,
} as const

type Kind = keyof typeof KINDS

/** Agents that have far more checks than others, and share a tenth of all. */
const LARGE_AGENTS = 10

/** Seconds, in the microseconds that instants count. */
export const seconds = (number: string | number): string => `(${number}) * CAST(1000000 AS bigint)`

/**
 * The names in a seeded storage, as SQL expressions over numbers: everything follows from the
 * number of an agent, a check, a history row or an incident, so no statement has to look at the
 * rows of another one.
 */
export class SeedNames {
  readonly now: bigint
  readonly size: SeedSize
  readonly dialect: Dialect
  readonly accepted: number
  /**
   * How many checks are spread evenly over accepted agents; the others belong to a few large ones.
   */
  readonly spreadChecks: number
  readonly sharedIncidents: number

  constructor(size: SeedSize, now: bigint, dialect: Dialect) {
    this.size = size
    this.now = now
    this.dialect = dialect
    this.accepted = acceptedAgents(size)
    this.spreadChecks = size.checks - Math.floor(size.checks / 10)
    this.sharedIncidents = Math.max(1, Math.floor(size.checks / 20_000))
  }

  /** Spreads numbers below 2^32 over that range, each onto another one. */
  mixed(n: string): string {
    return `(((${n}) * 2654435761) % 4294967296)`
  }

  agentId(n: string): string {
    return `('agent-' || ${this.dialect.digits(n, 7)})`
  }

  /** The number of the m-th accepted agent: every hundredth agent is pending. */
  acceptedAgent(m: string): string {
    return `((${m}) / 99 * 100 + (${m}) % 99)`
  }

  registrationId(n: string, kind: "registration" | "formerRegistration" = "registration"): string {
    return this.dialect.uuid(this.#uuidText(kind, n, this.mixed(n)))
  }

  keyHash(n: string, kind: "accepted" | "pending" | "superseded" | "blocked"): string {
    const salt = { accepted: "a", pending: "b", superseded: "c", blocked: "d" }[kind]
    return `(${this.dialect.hex(this.mixed(n), 8)} || '${salt.repeat(56)}')`
  }

  agentOfCheck(k: string): string {
    const large = Math.min(LARGE_AGENTS, this.accepted)
    const m = `CASE WHEN (${k}) < ${this.spreadChecks} THEN (${k}) % ${this.accepted} ELSE (${k}) % ${large} END`
    return this.acceptedAgent(`(${m})`)
  }

  checkId(k: string): string {
    const large = Math.min(LARGE_AGENTS, this.accepted)
    const own = Math.ceil(this.spreadChecks / this.accepted)
    const index = `CASE WHEN (${k}) < ${this.spreadChecks} THEN (${k}) / ${this.accepted}
      ELSE ${own} + ((${k}) - ${this.spreadChecks}) / ${large} END`
    return `('check-' || ${this.dialect.digits(`(${index})`, 5)})`
  }

  /** The present status of a check. */
  statusOfCheck(k: string): string {
    const draw = `${this.mixed(k)} % 1000`
    return `CASE WHEN ${draw} < 950 THEN 'ok' WHEN ${draw} < 970 THEN 'warning'
      WHEN ${draw} < 990 THEN 'critical' ELSE 'unknown' END`
  }

  exitCode(status: string): string {
    return `CASE ${status} WHEN 'ok' THEN 0 WHEN 'warning' THEN 1 WHEN 'critical' THEN 2 ELSE 3 END`
  }

  eventId(j: string): string {
    return this.dialect.uuid(`'01900000-0000-7000-8000-' || ${this.dialect.hex(j, 12)}`)
  }

  /** An accepted agent that has been silent for an hour. */
  isDead(n: string): string {
    return `((${n}) % 200 = 7)`
  }

  /**
   * An agent that was deleted and registered again; rows of its former registration await purging.
   */
  isFormer(n: string): string {
    return `((${n}) % 50 = 5)`
  }

  /** A check whose results name an incident key that many checks share. */
  isShared(k: string): string {
    return `((${k}) % 10 = 0)`
  }

  sharedIncident(k: string): string {
    return `((${k}) / 10 % ${this.sharedIncidents})`
  }

  /** When the open incident of a check was opened: within the last week. */
  openedAt(k: string): string {
    return `(${this.now} - ${seconds(`1 + ${this.mixed(k)} % 604800`)})`
  }

  resolvedIncidentOpenedAt(i: string): string {
    const yearOfMicros = 31_000_000_000_000
    return `(${this.now - BigInt(yearOfMicros)} + (${i}) * ${Math.floor(yearOfMicros / Math.max(1, this.size.incidents))})`
  }

  /** An id that sorts by `at`, an instant, as those that the service makes do. */
  timedId(kind: Kind, n: string, at: string): string {
    return this.#uuidText(kind, n, `(${at}) / 65536000`, `(${at}) / 1000 % 65536`)
  }

  #uuidText(kind: Kind, n: string, first: string, second = "0"): string {
    const { hex } = this.dialect
    return `(${hex(first, 8)} || '-' || ${hex(second, 4)} || '-7${KINDS[kind]}00-8000-' || ${hex(n, 12)})`
  }
}
