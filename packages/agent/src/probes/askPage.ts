import { hostField } from "@tocsin/contract/hosts"
import { connectingBy } from "@tocsin/contract/openConnection"
import type { IncomingMessage, RequestOptions } from "node:http"
import { connected, type ProbeAround } from "./Probe.ts"

/**
 * Node's parser as lenient as it can be. It is strict against a second answer that hides in the first one, and no
 * connection of a probe has a second answer.
 */
const LENIENT = { insecureHTTPParser: true, maxHeaderSize: 262_144 } as const

interface Asked {
  readonly options: RequestOptions
  readonly body: string | undefined
}

/** Sends one request, and waits for the head of its answer. `end` closes the connection. */
export const askPage = async (url: URL, { body, options }: Asked, around: Omit<ProbeAround, "clock">) => {
  // Loaded only where it is used: TLS takes some megabytes.
  const { Agent, request } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http")
  const headers = { host: hostField(url), ...options.headers }
  const isLocal = options.socketPath !== undefined
  const agent = !isLocal && connectingBy(new Agent(), (host, port) => connected(host, port, around))
  const sent = request(url, { ...LENIENT, ...options, headers, agent, signal: around.signal })
  // Node.js leaves out further fields.
  sent.maxHeadersCount = 0
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("close", () => reject(new Error("the connection was closed without an answer")))
    sent.on("socket", (socket) => socket.prependListener("data", uniteLengths()))
    sent.on("error", reject).on("upgrade", resolve).on("response", resolve)
    sent.end(body)
  })
  const { "content-length": length, "transfer-encoding": coding = "" } = response.headers
  if (length !== undefined && /chunked/i.test(coding)) {
    sent.destroy()
    throw new Error("the answer has both Content-Length and Transfer-Encoding")
  }
  return { response, end: () => void sent.destroy() }
}

const LENGTH = /^(content-length)[\t ]*:([\d\t ,]*)\r?$/gim

/**
 * Node's parser takes one length. Equal ones become one, in place: a list is shortened, and a field that repeats the
 * length is renamed.
 */
const uniteLengths = () => {
  let [known, isHead] = ["", true]
  return (part: Buffer): void => {
    if (!isHead) return
    const text = part.toString("latin1")
    const end = text.search(/\n\r?\n/)
    isHead = end < 0
    for (const { 0: field, 1: name, 2: list = "", index } of text.matchAll(LENGTH)) {
      const [length = "", ...others] = new Set(list.split(",").map((one) => one.trim()))
      if ((!isHead && index > end) || others.length > 0 || (known !== "" && known !== length)) return
      part.write(known === "" ? `${name}:${length}`.padEnd(field.trimEnd().length) : "x", index, "latin1")
      known = length
    }
  }
}
