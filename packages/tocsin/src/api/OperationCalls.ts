import * as ops from "@tocsin/adapter-http/api/opsResources"
import type { AgentNotFound } from "@tocsin/core/admission/AdmissionErrors"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { NotFound, Operations } from "@tocsin/core/usecases/Operations"
import { toIncidentDetail, toNotifierTest } from "@tocsin/core/usecases/toResources"
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

const decodeCheck = decoderOf(ops.CheckQuery)
const decodeIncident = decoderOf(ops.IncidentPath)
const decodeItem = decoderOf(ops.OutboxPath)
const encodeExplanation = Schema.encodeSync(ops.CheckExplanation)
const encodeDetail = Schema.encodeSync(ops.IncidentDetail)

const inLibraryTerms = (message: string) => () => new NotFound({ message })

const noSuchNotifier = inLibraryTerms("there is no notifier of this name; give it to createMonitor first")
const noSuchIncident = inLibraryTerms("no incident has this id; list incidents with monitor.incidents.list()")
const noSuchCheck = inLibraryTerms(
  "this agent has no such check; list its checks with monitor.checks.list({ agent_id })",
)
const noSuchItem = inLibraryTerms(
  'no outbox item has this id; list failed items with monitor.outbox.list({ state: "failed" })',
)

/** {@link OperationCalls} on running use cases. */
export const operationCalls = (calls: Calls<Operations>): OperationCalls => {
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
          encodeExplanation,
        ),
      ),
    resetClock: (check) => calls.reply(onCheck(check, (operations, name) => operations.resetClock(name))),
    removeCheck: (check) => calls.reply(onCheck(check, (operations, name) => operations.removeCheck(name))),
    incident: (id) =>
      calls.reply(
        decodeIncident({ id }).pipe(
          Effect.flatMap((decoded) => Effect.flatMap(Operations, ({ incident }) => incident(decoded.id))),
          Effect.catchTag("NotFound", () => Effect.fail(noSuchIncident())),
          Effect.map((story) => encodeDetail(toIncidentDetail(story))),
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
        Effect.flatMap(Operations, ({ testNotifier }) => testNotifier(name)).pipe(
          Effect.mapError(noSuchNotifier),
          Effect.map(toNotifierTest),
        ),
      ),
  }
}

type Checked = Parameters<Operations["Service"]["explain"]>[0]
type OfCheck<A> = Effect.Effect<A, AgentNotFound | NotFound | StorageError>
