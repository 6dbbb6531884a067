import { hostField } from "@tocsin/contract/formats/hosts"
import { connectingBy } from "@tocsin/contract/formats/openConnection"
import type { IncomingMessage, RequestOptions } from "node:http"
import { mendHead } from "./mendHead.ts"
import { connected, type ProbeAround } from "./Probe.ts"

const LONGEST_HEAD = 262_144

/** Node's parser as lenient as it can be: see {@link mendHead}. */
const LENIENT = { insecureHTTPParser: true, maxHeaderSize: LONGEST_HEAD } as const

interface Asked {
  readonly options: RequestOptions
  readonly body: string | undefined
}

/** Sends one request, and waits for the head of its answer. `end` closes the connection. */
export const askPage = async (url: URL, { body, options }: Asked, around: Omit<ProbeAround, "clock">) => {
  // Loaded only where it is used: TLS takes some megabytes.
  const { Agent, request } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http")
  // Node.js states the length of a body by itself only for the methods that usually have one.
  const sized = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
  const headers = { host: hostField(url), ...options.headers, ...sized }
  const isLocal = options.socketPath !== undefined
  const agent = !isLocal && connectingBy(new Agent(), (host, port) => connected(host, port, around))
  const sent = request(url, { ...LENIENT, ...options, headers, agent, signal: around.signal })
  // Node.js leaves out further fields.
  sent.maxHeadersCount = 0
  // The bytes behind an answer that changes the protocol.
  let rest = Buffer.alloc(0)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("close", () => reject(new Error("the connection was closed without an answer")))
    sent.on("socket", (socket) => mendHead(socket, LONGEST_HEAD))
    sent.on("error", reject).on("response", resolve)
    sent.on("upgrade", (answer, _, head) => {
      rest = head
      resolve(answer)
    })
    sent.end(body)
  })
  const { "content-length": length, "transfer-encoding": coding = "" } = response.headers
  if (length !== undefined && /chunked/i.test(coding)) {
    sent.destroy()
    throw new Error("the answer has both Content-Length and Transfer-Encoding")
  }
  return { response, rest, end: () => void sent.destroy() }
}
