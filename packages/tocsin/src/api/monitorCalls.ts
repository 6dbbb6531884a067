import type { CoreError } from "@tocsin/adapter-http/response/failures"
import { opsUseCases, v1UseCases } from "@tocsin/adapter-http/handlers/useCases"
import type { Call, Walk } from "@tocsin/client/calls/call"
import { callTable, mapCalls } from "@tocsin/client/calls/callTable"
import {
  endpointCodecs,
  type EndpointName,
  type InputOf,
  type WritingEndpoint,
} from "@tocsin/client/calls/endpoints"
import { MAX_LIMIT } from "@tocsin/contract/Parameters"
import { CurrentOperator, libraryOperator } from "@tocsin/core/ports/CurrentOperator"
import { Operations } from "@tocsin/core/usecases/Operations"
import { NotFound } from "@tocsin/core/usecases/OperationErrors"
import { toNotifierTest } from "@tocsin/core/usecases/toResources"
import { Context, Effect } from "effect"
import type { NotifierTest, Page } from "@tocsin/client/Resources"
import { type Calls, type CodeOf, readSigned, type Reply, type SignedInput } from "./Calls.ts"
import { refuseFurther } from "./AgentCalls.ts"
import type { AnyCallCode } from "../TocsinError.ts"

const useCasesOf = (services: Parameters<typeof opsUseCases>[0]) => {
  const ops = opsUseCases(services)
  return {
    ...v1UseCases(services).operators,
    ...ops.operations,
    ...ops.operators,
    ...ops.integrations,
    ...ops.enrolments,
    ...ops.watches,
    ...ops.incidentActions,
    ...ops.policy,
    ...ops.rotas,
    ...ops.secrets,
    ...ops.sessions,
    ...ops.silences,
    ...ops.announcements,
  }
}

type UseCases = ReturnType<typeof useCasesOf>

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
    ? (
        ...input: Endpoint extends WritingEndpoint ? SignedInput<Input> : Input
      ) => Reply<Output, CodesOf<Endpoint> | (Endpoint extends WritingEndpoint ? "validation" : never)>
    : Table[Name] extends Walk<EndpointName, infer Input, infer Item>
      ? (...input: Input) => AsyncGenerator<Item, void, undefined>
      : AsReplies<Table[Name]>
}

// Agents' calls need a key each: see AgentCalls. A program has no token, so there is no `me`.
const {
  heartbeat: _heartbeat,
  events: _events,
  expectations: _expectations,
  enrol: _enrol,
  me: _me,
  ...operatorsTable
} = callTable

/** The operators' calls of the API, answered by this process. */
export interface MonitorCalls extends AsReplies<
  Omit<typeof callTable, "heartbeat" | "events" | "expectations" | "enrol" | "me" | "notifiers">
> {
  readonly notifiers: {
    /**
     * Sends a test message through the notifier of this name, and reports the receiver's answer.
     */
    readonly test: (name: string) => Reply<NotifierTest, AnyCallCode | "not_found">
  }
}

const NO_SUCH_CHECK = "this agent has no such check; list its checks with monitor.checks.list({ agent_id })"

const NO_SUCH_OPERATOR = "no operator has this name; list operators with monitor.operators.list()"
const NO_SUCH_SILENCE = "no silence has this id; list silences with monitor.silences.list()"
const NO_SUCH_ANNOUNCEMENT =
  "no announcement has this id; list announcements with monitor.announcements.list()"
const NO_SUCH_ROTA = "the policy has no rota of this name; list rotas with monitor.rotas.list()"
const NO_SUCH_INCIDENT = "no incident has this id; list incidents with monitor.incidents.list()"

/** Messages about missing things, in terms of the library. */
const NOT_FOUND: Partial<Record<EndpointName, string>> = {
  explain: NO_SUCH_CHECK,
  resolveCheck: NO_SUCH_CHECK,
  resetClock: NO_SUCH_CHECK,
  removeCheck: NO_SUCH_CHECK,
  listSeries: NO_SUCH_CHECK,
  readNumbers: NO_SUCH_CHECK,
  showIncident: NO_SUCH_INCIDENT,
  changeOperator: NO_SUCH_OPERATOR,
  rotateOperator: NO_SUCH_OPERATOR,
  replay: 'no outbox item has this id; list failed items with monitor.outbox.list({ state: "failed" })',
  release: "no outbox item has this id; list held items with monitor.outbox.withHolds.list({ held: true })",
  getSilence: NO_SUCH_SILENCE,
  changeSilence: NO_SUCH_SILENCE,
  updateAnnouncement: NO_SUCH_ANNOUNCEMENT,
  endAnnouncement: NO_SUCH_ANNOUNCEMENT,
  getRota: NO_SUCH_ROTA,
  listOverrides: NO_SUCH_ROTA,
  createOverride: NO_SUCH_ROTA,
  acknowledge: NO_SUCH_INCIDENT,
  withdrawAcknowledgement: NO_SUCH_INCIDENT,
  noteIncident: NO_SUCH_INCIDENT,
  testNotifier: "there is no notifier of this name; give it to createMonitor first",
}

const inLibraryTerms =
  (endpoint: EndpointName) =>
  <E extends CoreError>(error: E): E | NotFound => {
    const message = NOT_FOUND[endpoint]
    // A message that names no call of the API is about something else.
    const isOfApi = error._tag === "NotFound" && error.message.includes("GET /")
    return isOfApi && message !== undefined ? new NotFound({ message }) : error
  }

async function* allPages(
  list: (...input: ReadonlyArray<unknown>) => Promise<unknown>,
  parameters: object = {},
  ...further: ReadonlyArray<unknown>
) {
  let cursor: string | null | undefined
  do {
    // Only lists are walked.
    const page = (await list(
      { limit: MAX_LIMIT, ...parameters, ...(cursor && { cursor }) },
      ...further,
    )) as Page<unknown>
    yield* page.items
    cursor = page.next_cursor
  } while (cursor)
}

type AnyUseCase = (request: object) => Effect.Effect<unknown, CoreError>

/** {@link MonitorCalls} on running use cases. */
export const monitorCalls = (calls: Calls, services: Parameters<typeof useCasesOf>[0]): MonitorCalls => {
  // Each codec's `read` gives its use case what that takes.
  const useCases = useCasesOf(services) as unknown as Readonly<Record<EndpointName, AnyUseCase>>
  const answer = Effect.fnUntraced(function* (endpoint: EndpointName, given: ReadonlyArray<unknown>) {
    const codec = endpointCodecs[endpoint]
    const { by, input } = codec.isWrite
      ? yield* Effect.fromResult(readSigned(given, codec.inputs))
      : { by: undefined, input: given }
    const request = yield* Effect.fromResult(codec.read(...input))
    const acting = Effect.provideService(useCases[endpoint](request), CurrentOperator, libraryOperator(by))
    return codec.write(yield* acting)
  })
  const replyTo =
    (endpoint: EndpointName) =>
    (...given: ReadonlyArray<unknown>) =>
      calls.reply(Effect.mapError(answer(endpoint, given), inLibraryTerms(endpoint)))
  const mapped = mapCalls(({ endpoint, walks }) => {
    const reply = replyTo(endpoint)
    return walks
      ? (parameters?: object, ...further: ReadonlyArray<unknown>) => allPages(reply, parameters, ...further)
      : reply
  }, operatorsTable)
  // The API knows four names of notifiers; a program's own notifiers have others.
  const test = (name: string, ...further: ReadonlyArray<unknown>) =>
    calls.reply(
      Effect.andThen(
        refuseFurther(further),
        Context.get(services, Operations)
          .testNotifier(name)
          .pipe(Effect.mapError(inLibraryTerms("testNotifier")), Effect.map(toNotifierTest)),
      ),
    )
  // Types and code follow the same table, which the compiler cannot see.
  return { ...mapped, notifiers: { test } } as unknown as MonitorCalls
}
