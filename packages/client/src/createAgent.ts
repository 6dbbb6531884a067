import { isAgentId } from "@tocsin/contract/formats/Identifiers"
import { isLabels, MAX_LABELS } from "@tocsin/contract/labels/Labels"
import { isHostname } from "@tocsin/contract/formats/Text"
import { Redacted } from "effect"
import type { ProgramAgent } from "@tocsin/reporting/program/ProgramAgent"
import { ReportingAgent } from "@tocsin/reporting/program/ReportingAgent"
import {
  fetchTransport,
  fingerprintOf,
  keyIn,
  nodeModule,
  realTime,
} from "@tocsin/reporting/program/Platform"
import { AGENT_VERSION } from "@tocsin/reporting/agent/version"
import { address, secret } from "./options/ClientOptions.ts"
import { aFunction, checked, group, required, text } from "./options/readers.ts"
import { TocsinClientError } from "./TocsinClientError.ts"

/** Options of an agent inside a program. */
export interface AgentOptions {
  /** The service's address, with the path before `/api/v1`: `https://monitoring.example`. */
  readonly baseUrl: string | URL
  /** Names the program to the service. */
  readonly agentId: string
  /**
   * The file of the agent's key. The first start makes it, readable by its owner only; keep it, or
   * an operator has to accept another key. Its folder must exist.
   */
  readonly keyFile?: string | undefined
  /** The key itself, in place of a file: 1 to 512 visible ASCII characters. */
  readonly agentKey?: string | undefined
  /** The host's name unless given. */
  readonly hostname?: string | undefined
  /** Up to 31 labels, for policies and silences. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** Takes messages for people, such as the fingerprint to accept. `console.error` unless given. */
  readonly log?: ((message: string) => void) | false | undefined
  /** Replaces the runtime's fetch: for tests and proxies. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** One label more is the agent's own. */
const mayHave = (given: unknown): boolean => isLabels(given) && Object.keys(given).length < MAX_LABELS

// A function, so that bundles of pages that make no agent leave it out.
const options = () =>
  group<AgentOptions>()({
    baseUrl: address,
    agentId: required<string>(isAgentId, "1 to 128 letters, digits or the characters . _ : -"),
    keyFile: text,
    agentKey: secret,
    hostname: checked<string>(isHostname, "1 to 253 characters, none of them a control character"),
    labels: checked<Readonly<Record<string, string>>>(
      mayHave,
      "at most 31 texts, by names that do not look like secrets",
    ),
    log: checked<((message: string) => void) | false>(
      (given) => given === false || typeof given === "function",
      "a function, or false",
    ),
    fetch: aFunction(),
  })

const hostname = (): string | undefined =>
  nodeModule<{ readonly hostname: () => string }>("node:os")?.hostname()

/**
 * Makes an agent inside this program, which reports to a Tocsin elsewhere. Throws a
 * `TocsinClientError` with code `options` if the options are invalid, or the key file cannot be
 * read. It registers immediately, and logs the fingerprint that an operator has to accept; until
 * then its reports wait.
 *
 * @example
 * ```ts
 * const shop = createAgent({ baseUrl: "https://monitoring.example", keyFile: "shop.key", agentId: "shop" })
 * shop.check("orders", { every: "1m" }, async () => `${await countOrders()} orders`)
 * shop.report("deploy", "ok", "version 7")
 * ```
 */
export const createAgent = (given: AgentOptions): ProgramAgent => {
  const refuse = (problem: string) => new TocsinClientError("options", problem)
  const problems: Array<string> = []
  const read = options()("", Object(given), (problem) => void problems.push(problem))
  if ((read?.keyFile === undefined) === (read?.agentKey === undefined))
    problems.push("give keyFile or agentKey: one of them")
  if (read?.baseUrl === undefined || read.agentId === undefined || problems.length > 0)
    throw refuse(problems.join("\n"))
  const { baseUrl, agentId, keyFile, agentKey, labels, log, fetch = globalThis.fetch } = read
  const key = keyOf(keyFile, agentKey, refuse)
  return new ReportingAgent(
    {
      agentId,
      servers: [baseUrl.href],
      key,
      fingerprint: fingerprintOf(key),
      heartbeat: {
        hostname: read.hostname ?? hostname() ?? agentId,
        features: { push: true, metrics: false },
        labels: { ...labels, service_agent_version: AGENT_VERSION },
      },
    },
    {
      ...realTime(),
      transport: fetchTransport(fetch),
      log: log === false ? () => {} : (log ?? ((message) => console.error(`tocsin ${agentId}: ${message}`))),
    },
    (message) => new TocsinClientError("validation", message),
  )
}

const keyOf = (
  file: string | undefined,
  given: Redacted.Redacted | undefined,
  refuse: (problem: string) => Error,
): string => {
  if (given !== undefined) return Redacted.value(given)
  try {
    return keyIn(file ?? "")
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error))
  }
}
