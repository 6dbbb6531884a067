import type { CoreError } from "@tocsin/adapter-http/response/failures"
import {
  namedOperatorUseCases,
  incidentActUseCases,
  operationUseCases,
  operatorUseCases,
  policyUseCases,
} from "@tocsin/adapter-http/handlers/useCases"
import { type Call, callTable, mapCalls, type Walk } from "@tocsin/client/calls/callTable"
import { endpointCodecs, type EndpointName, type InputOf } from "@tocsin/client/calls/endpoints"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Operations } from "@tocsin/core/usecases/Operations"
import { NotFound } from "@tocsin/core/usecases/OperationErrors"
import { Operators } from "@tocsin/core/usecases/Operators"
import { Policies } from "@tocsin/core/usecases/Policies"
import { toNotifierTest } from "@tocsin/core/usecases/toResources"
import { Queries } from "@tocsin/core/usecases/Queries"
import { Context, Effect } from "effect"
import type {
  AcknowledgeAllRequest,
  AcknowledgeRequest,
  NoteRequest,
  NotifierTest,
  Page,
} from "@tocsin/client/Resources"
import type { Calls, CodeOf, Reply } from "./Calls.ts"
import type { AnyCallCode } from "../TocsinError.ts"

type UseCases = ReturnType<typeof operatorUseCases> &
  ReturnType<typeof operationUseCases> &
  ReturnType<typeof namedOperatorUseCases> &
  ReturnType<typeof incidentActUseCases> &
  ReturnType<typeof policyUseCases>

type CodesOf<Name extends keyof UseCases> =
  | CodeOf<Effect.Error<ReturnType<UseCases[Name]>>>
  | AnyCallCode
  | (InputOf<Name> extends readonly [] ? never : "validation")

/** The table's calls as replies, and its walks as async iterators. */
type AsReplies<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Call<
    infer Endpoint extends keyof UseCases,
    infer Input,
    infer Output
  >
    ? (...input: Input) => Reply<Output, CodesOf<Endpoint>>
    : Table[Name] extends Walk<EndpointName, infer Input, infer Item>
      ? (...input: Input) => AsyncGenerator<Item, void, undefined>
      : AsReplies<Table[Name]>
}

// Agents' calls need a key each: see AgentCalls. A program has no token, so there is no `me`.
const {
  heartbeat: _heartbeat,
  events: _events,
  expectations: _expectations,
  me: _me,
  ...operatorsTable
} = callTable

/** Who acts where a program does not say. */
const LIBRARY = "library"

type Acts = AsReplies<Pick<(typeof callTable)["incidents"], keyof IncidentActs>>
type Incidents = AsReplies<Omit<(typeof callTable)["incidents"], keyof IncidentActs>>

/** What people do about incidents. `by` says who does, by default `library`. */
interface IncidentActs {
  /**
   * Acknowledges an open incident, or replaces its acknowledgement: until it ends, Tocsin sends no
   * firing of it that has not been attempted yet, unless it worsens.
   */
  readonly acknowledge: (id: string, request?: AcknowledgeRequest & By) => ReturnType<Acts["acknowledge"]>
  /** Withdraws the acknowledgement of an incident; a count of 0 if there is none. */
  readonly withdraw: (id: string, by?: By) => ReturnType<Acts["withdraw"]>
  /** Acknowledges 1 to 200 incidents, each on its own. */
  readonly acknowledgeAll: (request: AcknowledgeAllRequest & By) => ReturnType<Acts["acknowledgeAll"]>
  /** Adds a note to the story of an incident, open or resolved. */
  readonly note: (id: string, request: NoteRequest & By) => ReturnType<Acts["note"]>
}

/** Who acts. */
interface By {
  readonly by?: string | undefined
}

/** The operators' calls of the API, answered by this process. */
export interface MonitorCalls extends AsReplies<
  Omit<typeof callTable, "heartbeat" | "events" | "expectations" | "me" | "notifiers" | "incidents">
> {
  /** Incidents: open first, worst first, newest first, unless `sort` says otherwise. */
  readonly incidents: Incidents & IncidentActs
  readonly notifiers: {
    /**
     * Sends a test message through the notifier of this name, and reports the receiver's answer.
     */
    readonly test: (name: string) => Reply<NotifierTest, AnyCallCode | "not_found">
  }
}

const NO_SUCH_CHECK = "this agent has no such check; list its checks with monitor.checks.list({ agent_id })"

const NO_SUCH_OPERATOR = "no operator has this name; list operators with monitor.operators.list()"
const NO_SUCH_INCIDENT = "no incident has this id; list incidents with monitor.incidents.list()"

/** What is not found, in terms of the library. */
const NOT_FOUND: Partial<Record<EndpointName, string>> = {
  explain: NO_SUCH_CHECK,
  resetClock: NO_SUCH_CHECK,
  removeCheck: NO_SUCH_CHECK,
  showIncident: NO_SUCH_INCIDENT,
  changeOperator: NO_SUCH_OPERATOR,
  rotateOperator: NO_SUCH_OPERATOR,
  replay: 'no outbox item has this id; list failed items with monitor.outbox.list({ state: "failed" })',
  release: "no outbox item has this id; list held items with monitor.outbox.withHolds.list({ held: true })",
  acknowledge: NO_SUCH_INCIDENT,
  withdrawAcknowledgement: NO_SUCH_INCIDENT,
  noteIncident: NO_SUCH_INCIDENT,
  testNotifier: "there is no notifier of this name; give it to createMonitor first",
}

const inLibraryTerms =
  (endpoint: EndpointName) =>
  <E extends CoreError>(error: E): E | NotFound => {
    const message = NOT_FOUND[endpoint]
    return error._tag === "NotFound" && message !== undefined ? new NotFound({ message }) : error
  }

// Few round trips, and still bounded.
const LARGEST_PAGE = 500

async function* allPages(list: (parameters: object) => Promise<unknown>, parameters: object = {}) {
  let cursor: string | null | undefined
  do {
    // Only lists are walked.
    const page = (await list({
      limit: LARGEST_PAGE,
      ...parameters,
      ...(cursor && { cursor }),
    })) as Page<unknown>
    yield* page.items
    cursor = page.next_cursor
  } while (cursor)
}

type AnyUseCase = (request: object) => Effect.Effect<unknown, CoreError>

/** {@link MonitorCalls} on running use cases. */
export const monitorCalls = (
  calls: Calls,
  services: Context.Context<Admission | Queries | Operations | Operators | Policies>,
): MonitorCalls => {
  const operations = Context.get(services, Operations)
  // Each codec's `read` gives its use case what that takes.
  const useCases = {
    ...operatorUseCases(Context.get(services, Admission), Context.get(services, Queries)),
    ...operationUseCases(operations, Context.get(services, Queries)),
    ...namedOperatorUseCases(Context.get(services, Operators)),
    ...incidentActUseCases(operations),
    ...policyUseCases(Context.get(services, Policies)),
  } as unknown as Readonly<Record<EndpointName, AnyUseCase>>
  const replyTo =
    (endpoint: EndpointName, more: object = {}) =>
    (...input: ReadonlyArray<unknown>) => {
      const { read, write } = endpointCodecs[endpoint]
      const answer = Effect.flatMap(Effect.fromResult(read(...input)), (request) =>
        useCases[endpoint]({ ...request, ...more }),
      )
      return calls.reply(answer.pipe(Effect.mapError(inLibraryTerms(endpoint)), Effect.map(write)))
    }
  const mapped = mapCalls(({ endpoint, walks }) => {
    const reply = replyTo(endpoint)
    return walks ? (parameters?: object) => allPages(reply, parameters) : reply
  }, operatorsTable)
  const acts = {
    acknowledge: (id: string, { by = LIBRARY, ...request }: By = {}) =>
      replyTo("acknowledge", { by })(id, request),
    withdraw: (id: string, { by = LIBRARY }: By = {}) => replyTo("withdrawAcknowledgement", { by })(id),
    acknowledgeAll: ({ by = LIBRARY, ...request }: By) => replyTo("acknowledgeAll", { by })(request),
    note: (id: string, { by = LIBRARY, ...request }: By) => replyTo("noteIncident", { by })(id, request),
  }
  // The API knows four names of notifiers; a program's own notifiers have others.
  const test: MonitorCalls["notifiers"]["test"] = (name) =>
    calls.reply(
      operations
        .testNotifier(name)
        .pipe(Effect.mapError(inLibraryTerms("testNotifier")), Effect.map(toNotifierTest)),
    )
  // Types and code follow the same table, which the compiler cannot see.
  return {
    ...mapped,
    incidents: { ...mapped["incidents"], ...acts },
    notifiers: { test },
  } as unknown as MonitorCalls
}
