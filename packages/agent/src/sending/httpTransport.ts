import { hostField } from "@tocsin/contract/formats/hosts"
import { connectingBy, openConnection } from "@tocsin/contract/formats/openConnection"
import { PROCESS_FIELD } from "@tocsin/contract/v1/processField"
import dns from "node:dns"
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import type { Agent as HttpsAgent } from "node:https"
import net from "node:net"
import { agentUrl, type HttpAnswer, type OutgoingRequest, targetOf } from "@tocsin/reporting/agent/Answer"
import { PARTIAL_CHAIN } from "../probes/trust.ts"
import { explainError } from "./explainError.ts"

const ANSWER_MILLIS = 15_000
/** No answer of the service is longer. */
const MAX_ANSWER_BYTES = 65_536
/** A thousand watches, some with bodies. */
const MAX_WATCHES_BYTES = 8_388_608

/** A place asks a server for its watches, unless those of `tag` are unchanged. */
export interface AskingWatches {
  readonly server: string
  readonly agentId: string
  readonly key: string
  readonly secrets: boolean
  readonly tag: string | undefined
}

export interface AskedWatches extends HttpAnswer {
  readonly tag?: string | undefined
}

/** A request as it goes over HTTP. */
interface Sent {
  readonly method: string
  readonly url: string
  readonly key: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly most?: number
}

const sentOf = (outgoing: OutgoingRequest): Sent => {
  const { body, key, process } = outgoing
  const headers = { ...(process !== undefined && { [PROCESS_FIELD]: process }) }
  return { ...targetOf(outgoing), key, body, headers }
}

const questionOf = ({ agentId, key, secrets, server, tag }: AskingWatches): Sent => ({
  method: "GET",
  url: `${agentUrl(server, agentId)}/watches${secrets ? "?secrets=true" : ""}`,
  key,
  headers: { ...(tag !== undefined && { "if-none-match": tag }) },
  most: MAX_WATCHES_BYTES,
})

const headersOf = (url: URL, { body, headers, key }: Sent) => ({
  host: hostField(url),
  // Without it a program in between may compress the answer (RFC 9110, 12.5.3).
  "accept-encoding": "identity",
  authorization: `Bearer ${key}`,
  ...(body !== undefined && {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  }),
  ...headers,
})

class ReusedConnectionLost extends Error {}

/** Codes of OpenSSL for a certificate whose authority is unknown. Node.js suggests its own flags. */
const UNTRUSTED: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
])

/** The failure, in the words of the configuration where a change there mends it. */
const explained = (error: unknown): string =>
  error instanceof Error && "code" in error && UNTRUSTED.has(error.code)
    ? `no authority that the agent trusts has signed the certificate: name yours in ca_file (${String(error.code)})`
    : explainError(error)

/** Sends over HTTP and HTTPS, with one connection to each server. `ca` are the authorities to trust instead of the system's. */
export const httpTransport = (options: { readonly ca?: string | undefined }) => {
  const closing = new AbortController()
  const open = (host: string, port: number) =>
    openConnection(net, { host, port, lookup: dns.lookup }, closing.signal, ANSWER_MILLIS)
  const reused = { keepAlive: true, maxSockets: 1 }
  const plain = connectingBy(new HttpAgent(reused), open)
  let secure: HttpsAgent | undefined
  const callers = {
    "http:": async () => ({ request: httpRequest, agent: plain }),
    // Loaded only where it is used: TLS takes some megabytes.
    "https:": async () => {
      const { Agent, request } = await import("node:https")
      const authorities = options.ca !== undefined && { ca: options.ca, ...PARTIAL_CHAIN }
      secure ??= connectingBy(new Agent({ ...reused, ...authorities }), open)
      return { request, agent: secure }
    },
  }
  const exchange = async (sent: Sent): Promise<AskedWatches> => {
    try {
      return await sendOnce(sent)
    } catch (error) {
      // The server closed an idle connection at the same moment: that says nothing about it.
      if (error instanceof ReusedConnectionLost && !closing.signal.aborted) return await sendOnce(sent)
      throw error
    }
  }
  const send = (outgoing: OutgoingRequest): Promise<HttpAnswer> => exchange(sentOf(outgoing))
  const ask = (asking: AskingWatches): Promise<AskedWatches> => exchange(questionOf(asking))
  const sendOnce = async (target: Sent): Promise<AskedWatches> => {
    const url = new URL(target.url)
    const { request, agent } = await callers[url.protocol === "https:" ? "https:" : "http:"]()
    // An agent of Node.js that was destroyed still opens connections, which stay.
    if (closing.signal.aborted) throw new Error("the transport is closed")
    const signal = AbortSignal.timeout(ANSWER_MILLIS)
    const answer = new Promise<AskedWatches>((resolve, reject) => {
      const sent = request(url, {
        method: target.method,
        agent,
        signal,
        headers: headersOf(url, target),
      })
      sent.on("response", (response) => resolve(readAnswer(response, target.most)))
      sent.on("error", (error) => {
        const isLost = sent.reusedSocket && "code" in error && error.code === "ECONNRESET"
        reject(isLost ? new ReusedConnectionLost("the connection was closed without an answer") : error)
      })
      // After an answer that switches protocols, Node reports neither an answer nor an error.
      sent.on("close", () => reject(new Error("the connection was closed without an answer")))
      sent.end(target.body)
    })
    return await answer.catch((error: unknown) => {
      if (error instanceof ReusedConnectionLost) throw error
      throw new Error(signal.aborted ? `it took longer than ${ANSWER_MILLIS / 1_000} s` : explained(error))
    })
  }
  return {
    send,
    ask,
    close: () => {
      closing.abort(new Error("the transport is closed"))
      plain.destroy()
      secure?.destroy()
    },
  }
}

const readAnswer = async (response: IncomingMessage, most = MAX_ANSWER_BYTES): Promise<AskedWatches> => {
  const { "content-encoding": encoding = "identity" } = response.headers
  if (encoding !== "identity") {
    response.destroy()
    throw new Error(`the answer is compressed (${encoding}): let no program in between compress answers`)
  }
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of response) {
    // A stream of bytes without an encoding yields buffers.
    const bytes = chunk as Buffer
    length += bytes.length
    if (length > most) throw new Error(`the answer is longer than ${most} bytes`)
    chunks.push(bytes)
  }
  // Node ends the stream without an error where the connection closed early.
  if (!response.complete) throw new Error("the connection was closed within the answer")
  const { location } = response.headers
  return {
    status: response.statusCode ?? 0,
    // Such as from http to https. A query may hold secrets.
    body:
      location === undefined
        ? Buffer.concat(chunks).toString()
        : `redirects to ${location.replace(/\?.*/, "")}: correct server in the configuration`,
    retryAfter: response.headers["retry-after"],
    date: response.headers.date,
    tag: response.headers.etag,
  }
}
