/** Opens and resolves incidents on the server's parts, without sockets, silences and a policy. */
import { performance } from "node:perf_hooks"
import process from "node:process"
import { AgentId, CheckId, EventId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { NotifierName } from "@tocsin/contract/formats/Status"
import { Notifiers } from "@tocsin/core/heart/notifications/Notifiers"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { likewise, type LoneDecision } from "@tocsin/core/kernel/unitOfWork/Decision"
import { isSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import { Effect, Layer, Redacted, References } from "effect"
import { Admission, Ingest, MemoryStorage, PgStorage, SqliteStorage, Tocsin } from "tocsin/effect"
import { EVENTS_PER_BATCH } from "../load/Load.ts"
import { answerCommands } from "../processes/answerCommands.ts"
import type { Sample } from "../report/Results.ts"
import { agentKey, agentName, eventId } from "../year/Year.ts"
import type { MutesCommand } from "./MutesCommand.ts"

/** As many agents report at the same time as connections do in the cases of results. */
const AGENTS = 32

const chat = {
  kind: NotifierName.make("chat"),
  send: () => Effect.succeed({ outcome: "delivered" as const }),
  test: Effect.succeed({ result: { outcome: "delivered" as const }, status: 200 }),
}

const layerOf = ({ place, storage }: MutesCommand) => {
  if (storage === "memory") return Layer.fresh(MemoryStorage.layer)
  return storage === "sqlite"
    ? SqliteStorage.layer({ file: place })
    : PgStorage.layer({ url: Redacted.make(place) })
}

/** Passes on the steps of a decision, but for the search for silences if that is left out. */
function* passing<A>(decision: LoneDecision<A>, looksForSilences: boolean): LoneDecision<A> {
  let step = decision.next()
  while (step.done !== true) {
    const isLeftOut = !looksForSilences && isSearch(step.value, "silencesEndingAfter")
    step = decision.next(isLeftOut ? [] : yield step.value)
  }
  return step.value
}

const storageOf = (command: MutesCommand) =>
  Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        transact: (one) =>
          storage.transact(likewise(one, (unit, now) => passing(one(unit, now), command.looksForSilences))),
      }),
    ),
  ).pipe(Layer.provide(layerOf(command)))

/** An agent whose checks all fail, recover, and so on. */
const agentOf = (ingest: Ingest["Service"], index: number) => {
  const [agent_id, key] = [AgentId.make(agentName(index)), Redacted.make(agentKey(index))]
  let events = 0
  const heartbeat = Effect.flatMap(Instant.now, (observed_at) =>
    ingest.heartbeat(key, {
      agent_id,
      observed_at,
      hostname: `${agent_id}.example.org`,
      features: { push: true, metrics: false },
      labels: { site: "north" },
    }),
  )
  const report = (status: "critical" | "ok") =>
    Effect.flatMap(Instant.now, (observed_at) =>
      ingest.events(key, {
        agent_id,
        events: Array.from({ length: EVENTS_PER_BATCH }, (_, check) => ({
          event_id: EventId.make(eventId(observed_at / 1_000n, index, events++)),
          check_id: CheckId.make(`check-${check}`),
          observed_at,
          status,
          exit_code: status === "ok" ? 0 : 2,
          duration_ms: 12,
          output: `PING ${status.toUpperCase()} - packet loss 0%, RTA 0.${events} ms`,
          output_truncated: false,
          notifications_enabled: true,
        })),
      }),
    )
  return { heartbeat, report }
}

const measure = (command: MutesCommand) =>
  Effect.gen(function* () {
    const [ingest, admission] = [yield* Ingest, yield* Admission]
    const agents = Array.from({ length: AGENTS }, (_, index) => agentOf(ingest, index))
    for (const { heartbeat, report } of agents) {
      yield* heartbeat
      yield* admission.acceptAll({ includeRotation: false })
      yield* report("ok")
    }
    const [begun, cpu] = [performance.now(), process.cpuUsage()]
    let firings = 0
    const live = Effect.fnUntraced(function* ({ report }: (typeof agents)[number]) {
      while (performance.now() < begun + command.seconds * 1_000) {
        yield* report("critical")
        firings += EVENTS_PER_BATCH
        yield* report("ok")
      }
    })
    yield* Effect.forEach(agents, live, { concurrency: AGENTS, discard: true })
    const used = process.cpuUsage(cpu)
    const sample: Sample = {
      perSecond: (firings * 1_000) / (performance.now() - begun),
      cpuMicros: { server: (used.user + used.system) / firings },
    }
    return sample
  }).pipe(
    Effect.orDie,
    Effect.provide(
      Tocsin.layer({
        storage: storageOf(command),
        notifiers: Layer.succeed(Notifiers, new Map([[chat.kind, chat]])),
      }),
    ),
    Effect.scoped,
    Effect.provideService(References.MinimumLogLevel, "Warn"),
  )

answerCommands<MutesCommand, Sample>((command) => Effect.runPromise(measure(command)))
