import { Effect, type Scope } from "effect"
import { withoutPatroni, startPatroni } from "../failover/Patroni.ts"
import { startCluster } from "../failover/startCluster.ts"
import type { Cluster } from "../failover/scenario.ts"
import type { Fault } from "./Fault.ts"

/** Kills the primary of a cluster, which lasts as long as the servers. */
const failingOver = (cluster: Effect.Effect<Cluster, never, Scope.Scope>): Fault["prepare"] =>
  Effect.map(cluster, ({ failOver, repair, url }) => ({
    conditions: () => Effect.succeed({ environment: { DATABASE_URL: url } }),
    inflict: ({ isOver }) => Effect.andThen(Effect.andThen(failOver, isOver), repair),
  }))

const SEEN =
  "Requests are answered with 500 and `Retry-After`, and `/ready` with 503, until a standby takes writes."

/** The loss of PostgreSQL's primary, with a standby that takes its place. */
export const failoverFaults: ReadonlyArray<Fault> = [
  {
    name: "primary killed, synchronous standby",
    cause: "SIGKILL to the primary, then `pg_promote` on the standby",
    seen: SEEN,
    setups: ["three on postgres"],
    rounds: 3,
    prepare: failingOver(startCluster(true)),
  },
  {
    name: "primary killed, standby behind",
    cause:
      "the replication ends, 100 kB more are committed; SIGKILL to the primary, then `pg_promote` on the standby",
    seen: `${SEEN} What PostgreSQL had not replicated is lost.`,
    setups: ["three on postgres"],
    rounds: 1,
    prepare: failingOver(startCluster(false)),
  },
  {
    name: "primary killed under Patroni",
    cause: "SIGKILL to Patroni and its primary, one of three; Patroni promotes a synchronous standby",
    seen: SEEN,
    setups: ["three on postgres"],
    rounds: 1,
    missing: () => withoutPatroni,
    prepare: failingOver(startPatroni(true)),
  },
]
