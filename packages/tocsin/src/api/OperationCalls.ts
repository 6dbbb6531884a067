import * as ops from "@tocsin/adapter-http/api/opsResources"
import type { AgentNotFound } from "@tocsin/core/admission/AdmissionErrors"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import type { IncidentStory, StorageError } from "@tocsin/core/ports/Storage"
import type { Explanation } from "@tocsin/core/usecases/explain"
import { NotFound } from "@tocsin/core/usecases/OperationErrors"
import { Operations } from "@tocsin/core/usecases/Operations"
import { toIncident, toOutboxItem } from "@tocsin/core/usecases/resources"
import { Effect, Schema } from "effect"
import type { Reply } from "../Reply.ts"
import type { AnyCallCode } from "../TocsinError.ts"
import type { Calls } from "./Calls.ts"
import { decoderOf } from "./decodeInput.ts"
import type { CheckName } from "@tocsin/client/Parameters"
import type { ActionCount, CheckExplanation, IncidentDetail, NotifierTest } from "@tocsin/client/Resources"

type OnOne<A> = Reply<A, AnyCallCode | "validation" | "not_found">

/** What operators do beyond the v1 contract. */
export interface OperationCalls {
  readonly explain: (check: CheckName) => OnOne<CheckExplanation>
  readonly resetClock: (check: CheckName) => OnOne<ActionCount>
  readonly removeCheck: (check: CheckName) => OnOne<ActionCount>
  readonly incident: (id: string) => OnOne<IncidentDetail>
  readonly replay: (id: string) => Reply<ActionCount, AnyCallCode | "validation" | "not_found" | "conflict">
  readonly testNotifier: (name: string) => Reply<NotifierTest, AnyCallCode | "not_found">
}

const decodeCheck = decoderOf(ops.CheckPath)
const decodeIncident = decoderOf(ops.IncidentPath)
const decodeItem = decoderOf(ops.OutboxPath)
const encodeExplanation = Schema.encodeSync(ops.CheckExplanation)
const encodeDetail = Schema.encodeSync(ops.IncidentDetail)

const toDetail = ({ incident, members, changes, outbox }: IncidentStory) =>
  encodeDetail({
    incident: toIncident(incident),
    members: members.map(({ agent_id, check_id, severity, summary, joined_at, left_at }) => ({
      agent_id,
      check_id,
      severity,
      summary: summary ?? null,
      joined_at,
      left_at: left_at ?? null,
    })),
    timeline: changes.map(({ changed_at, change, agent_id, check_id, severity, incident_severity }) => ({
      at: changed_at,
      change,
      agent_id,
      check_id,
      severity,
      incident_severity: incident_severity ?? null,
    })),
    deliveries: outbox.map(toOutboxItem),
  })

const toExplanation = (explanation: Explanation) =>
  encodeExplanation({
    ...explanation,
    last_change: explanation.last_change ?? null,
    incident: explanation.incident ?? null,
  })

const inLibraryTerms = (message: string) => () => new NotFound({ message })

const noSuchNotifier = inLibraryTerms("there is no notifier of this name; give it to createMonitor first")
const noSuchIncident = inLibraryTerms(
  "there is no incident with this id; monitor.incidents.list() shows those there are",
)
const noSuchCheck = inLibraryTerms(
  "there is no such check of this agent; monitor.checks.list({ agent_id }) shows those there are",
)
const noSuchItem = inLibraryTerms(
  'there is no outbox item with this id; monitor.outbox.list({ state: "failed" }) shows what can be replayed',
)

/** {@link OperationCalls} on running use cases. */
export const operationCalls = (calls: Calls<Operations | Notifiers>): OperationCalls => {
  const onCheck = <A>(
    check: CheckName,
    use: (operations: Operations["Service"], name: Checked) => OfCheck<A>,
  ) =>
    Effect.gen(function* () {
      const { agent_id, check_id } = yield* decodeCheck(check)
      return yield* use(yield* Operations, { agent_id, check_id })
    }).pipe(Effect.catchTag("NotFound", () => Effect.fail(noSuchCheck())))
  return {
    explain: (check) =>
      calls.reply(
        Effect.map(
          onCheck(check, (operations, name) => operations.explain(name)),
          toExplanation,
        ),
      ),
    resetClock: (check) => calls.reply(onCheck(check, (operations, name) => operations.resetClock(name))),
    removeCheck: (check) => calls.reply(onCheck(check, (operations, name) => operations.removeCheck(name))),
    incident: (id) =>
      calls.reply(
        decodeIncident({ id }).pipe(
          Effect.flatMap((decoded) => Effect.flatMap(Operations, ({ incident }) => incident(decoded.id))),
          Effect.catchTag("NotFound", () => Effect.fail(noSuchIncident())),
          Effect.map(toDetail),
        ),
      ),
    replay: (id) =>
      calls.reply(
        decodeItem({ id }).pipe(
          Effect.flatMap((decoded) => Effect.flatMap(Operations, ({ replay }) => replay(decoded.id))),
          Effect.catchTag("NotFound", () => Effect.fail(noSuchItem())),
        ),
      ),
    testNotifier: (name) =>
      calls.reply(
        Effect.gen(function* () {
          const notifier = Array.from((yield* Notifiers).values()).find(({ kind }) => kind === name)
          if (notifier === undefined) return yield* noSuchNotifier()
          const { result, status } = yield* notifier.test
          return {
            outcome: result.outcome,
            status: status ?? null,
            error: result.outcome === "delivered" ? null : result.error,
          }
        }),
      ),
  }
}

type Checked = Parameters<Operations["Service"]["explain"]>[0]
type OfCheck<A> = Effect.Effect<A, AgentNotFound | NotFound | StorageError>
