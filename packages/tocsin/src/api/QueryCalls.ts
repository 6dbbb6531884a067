import * as decode from "@tocsin/core/contract/decodeRequest"
import {
  CheckStatePage,
  IncidentPage,
  NotificationOutboxPage,
  StoredCheckResultEventPage,
} from "@tocsin/core/contract/Responses"
import { SystemSummary as SystemSummarySchema } from "@tocsin/core/contract/Resources"
import type { ValidationError } from "@tocsin/core/contract/Errors"
import type { StorageError } from "@tocsin/core/ports/Storage"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Effect, type Result, Schema } from "effect"
import type { Reply } from "../Reply.ts"
import type { AnyCallCode } from "../TocsinError.ts"
import type { Calls } from "./Calls.ts"
import { asQuery } from "./decodeInput.ts"
import type {
  CheckListParameters,
  HistoryParameters,
  IncidentListParameters,
  OutboxListParameters,
} from "@tocsin/client/Parameters"
import type {
  CheckState,
  Incident,
  NotificationOutboxItem,
  Page,
  StoredCheckResultEvent,
  SystemSummary,
} from "@tocsin/client/Resources"

type PageReply<Item> = Reply<Page<Item>, AnyCallCode | "validation">

/** The lists of what is monitored, a page each. */
export interface QueryCalls {
  readonly checks: (parameters?: CheckListParameters) => PageReply<CheckState>
  readonly history: (parameters?: HistoryParameters) => PageReply<StoredCheckResultEvent>
  readonly incidents: (parameters?: IncidentListParameters) => PageReply<Incident>
  readonly outbox: (parameters?: OutboxListParameters) => PageReply<NotificationOutboxItem>
  /** Counts that are current at their `generated_at`; cheap to poll. */
  readonly summary: () => Reply<SystemSummary, AnyCallCode>
}

const encodeChecks = Schema.encodeSync(CheckStatePage)
const encodeHistory = Schema.encodeSync(StoredCheckResultEventPage)
const encodeIncidents = Schema.encodeSync(IncidentPage)
const encodeOutbox = Schema.encodeSync(NotificationOutboxPage)
const encodeSummary = Schema.encodeSync(SystemSummarySchema)

/** {@link QueryCalls} on running use cases. */
export const queryCalls = (calls: Calls<Queries>): QueryCalls => {
  const list =
    <Parameters extends object, Decoded, Found, Item>(
      decodeParameters: (raw: decode.RawParameters) => Result.Result<Decoded, ValidationError>,
      read: (
        queries: Queries["Service"],
        parameters: Decoded,
      ) => Effect.Effect<Found, ValidationError | StorageError>,
      encode: (page: Found) => Page<Item>,
    ) =>
    (parameters?: Parameters): PageReply<Item> =>
      calls.reply(
        Effect.fromResult(decodeParameters(asQuery(parameters ?? {}))).pipe(
          Effect.flatMap((decoded) => Effect.flatMap(Queries, (queries) => read(queries, decoded))),
          Effect.map(encode),
        ),
      )
  return {
    checks: list(decode.decodeCheckListParameters, (queries, found) => queries.checks(found), encodeChecks),
    history: list(
      decode.decodeEventListParameters,
      (queries, found) => queries.history(found),
      encodeHistory,
    ),
    incidents: list(
      decode.decodeIncidentListParameters,
      (queries, found) => queries.incidents(found),
      encodeIncidents,
    ),
    outbox: list(decode.decodeOutboxListParameters, (queries, found) => queries.outbox(found), encodeOutbox),
    summary: () =>
      calls.reply(
        Effect.map(
          Effect.flatMap(Queries, ({ summary }) => summary),
          encodeSummary,
        ),
      ),
  }
}
