import type { CoreError } from "@tocsin/adapter-http/response/failures"
import type { ServicesOf } from "@tocsin/adapter-http/handlers/OpsUseCases"
import { opsUseCases } from "@tocsin/adapter-http/features"
import { v1UseCases } from "@tocsin/adapter-http/handlers/useCases"
import type { Call, Walk } from "@tocsin/client/calls/call"
import { callTable, mapCalls } from "@tocsin/client/calls/callTable"
import {
  type AllOf,
  endpointCodecs,
  type EndpointName,
  type InputOf,
  type WritingEndpoint,
} from "@tocsin/client/calls/endpoints"
import { MAX_LIMIT } from "@tocsin/contract/v1/Parameters"
import { CurrentOperator, libraryOperator } from "@tocsin/core/kernel/ports/CurrentOperator"
import { NotFound } from "@tocsin/core/kernel/engine/OperationErrors"
import { type Context, Effect, Record } from "effect"
import type { NotifierTest, Page } from "@tocsin/client/Resources"
import { type Calls, type CodeOf, readSigned, type Reply, type SignedInput } from "./Calls.ts"
import { refuseFurther } from "./AgentCalls.ts"
import type { AnyCallCode } from "../TocsinError.ts"

const useCasesOf = (services: Context.Context<ServicesOf<Make>>): UseCases =>
  // Endpoints have different names.
  Object.assign(v1UseCases(services), ...opsUseCases.map(({ make }) => make(services)))

type Make = typeof v1UseCases | (typeof opsUseCases)[number]["make"]
type UseCases = AllOf<ReturnType<Make>>

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

/** A table of calls without agents' calls, which need a key each: see AgentCalls. */
type OfOperators<Table> = {
  readonly [
    Name in keyof Table as Table[Name] extends Call<infer Endpoint, infer _, infer __>
      ? Endpoint extends keyof UseCases
        ? Name
        : never
      : Name
  ]: Table[Name]
}

/** The operators' calls of the API, answered by this process. */
export interface MonitorCalls extends AsReplies<Omit<OfOperators<typeof callTable>, "me" | "notifiers">> {
  readonly notifiers: {
    /** Sends a test message through the notifier of this name, and reports the receiver's answer. */
    readonly test: (name: string) => Reply<NotifierTest, AnyCallCode | "not_found">
  }
}

const NO_SUCH_CHECK = "this agent has no such check; list its checks with monitor.checks.list({ agent_id })"
const NO_SUCH_ROTA = "the policy has no rota of this name; list rotas with monitor.rotas.list()"

/** Messages about missing things that say something else in the library. */
const NOT_FOUND: Partial<Record<EndpointName, string>> = {
  resolveCheck: NO_SUCH_CHECK,
  resetClock: NO_SUCH_CHECK,
  titleCheck: NO_SUCH_CHECK,
  removeCheck: NO_SUCH_CHECK,
  listSeries: NO_SUCH_CHECK,
  readNumbers: NO_SUCH_CHECK,
  getRota: NO_SUCH_ROTA,
  listOverrides: NO_SUCH_ROTA,
  createOverride: NO_SUCH_ROTA,
  testNotifier: "there is no notifier of this name; give it to createMonitor first",
}

/** The call of the library for a request that a message names, such as `GET /ops/v1/outbox?held=true`. */
const callOf = (_request: string, resource: string, name?: string, value = "") => {
  const list = name === "held" ? "withHolds.list" : resource === "policy" ? "get" : "list"
  const given = value === "…" ? name : `${name}: ${value === "true" ? value : `"${value}"`}`
  return `monitor.${resource}.${list}(${name === undefined ? "" : `{ ${given} }`})`
}

const inLibraryTerms =
  (endpoint: EndpointName) =>
  <E extends CoreError>(error: E): E | NotFound => {
    // A message that names no call of the API is about something else.
    if (error._tag !== "NotFound" || !error.message.includes("GET /")) return error
    const named = /GET \/(?:api|ops)\/v1\/(?:notifiers\/)?(\w+)(?:\?(\w+)=([\w…]+))?/
    return new NotFound({ message: NOT_FOUND[endpoint] ?? error.message.replace(named, callOf) })
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
  // A program has no token, so there is no `me`.
  const { me: _, ...table } = Record.filter(
    callTable,
    (entry: object) => !("endpoint" in entry) || String(entry.endpoint) in useCases,
  )
  const mapped = mapCalls(({ endpoint, walks }) => {
    const reply = replyTo(endpoint)
    return walks
      ? (parameters?: object, ...further: ReadonlyArray<unknown>) => allPages(reply, parameters, ...further)
      : reply
  }, table)
  // The API knows four names of notifiers; a program's own notifiers have others.
  const test = (name: string, ...further: ReadonlyArray<unknown>) =>
    calls.reply(
      Effect.andThen(
        refuseFurther(further),
        Effect.mapError(
          useCases.testNotifier({ params: { notifier: name } }),
          inLibraryTerms("testNotifier"),
        ),
      ),
    )
  // Types and code follow the same table, which the compiler cannot see.
  return { ...mapped, notifiers: { test } } as unknown as MonitorCalls
}
