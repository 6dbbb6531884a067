import { hostField } from "@tocsin/contract/formats/hosts"
import { connectingBy } from "@tocsin/contract/formats/openConnection"
import type { IncomingMessage, RequestOptions } from "node:http"
import type { ProbeAround } from "./Probe.ts"
import { connected } from "./network.ts"
import type { Duplex } from "node:stream"

const BEGINNING = "HTTP/"
const BLANK_LINE = /\n(\r?\n)/
/** An answer before the answer, except the one that is the last of HTTP. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d\s/

/**
 * Has a connection give the head of an answer in one part, and mended: Node's parser refuses what browsers overlook.
 * No connection of a probe has a second answer, which could hide in the first one. A head longer than `longest`, and
 * what is no HTTP, stay as they are.
 */
const mendHead = (socket: Duplex, longest: number): void => {
  const push = socket.push.bind(socket)
  let [held, tail] = ["", ""]
  const release = (text: string): boolean => {
    socket.push = push
    return text === "" || push(Buffer.from(text, "latin1"))
  }
  socket.push = (part: Buffer | null) => {
    if (part === null) return release(held) && push(null)
    const text = part.toString("latin1")
    const isAtStart = held.length < BEGINNING.length
    held = (held + text).replace(isAtStart ? /^[\r\n]+/ : "", "")
    // Looking for the end through all that is held would take long where parts are short.
    const seen = isAtStart ? held : tail + text
    tail = seen.slice(-2)
    const isOther = isAtStart && !BEGINNING.startsWith(held.slice(0, BEGINNING.length))
    if (isOther || held.length > longest) return release(held)
    if (!BLANK_LINE.test(seen)) return true
    const answer = withoutInterim(held)
    const end = BLANK_LINE.exec(answer)
    if (end !== null) {
      const [head, body] = [answer.slice(0, end.index), answer.slice(end.index + end[0].length)]
      return release(`${mended(head)}\r\n\r\n${body}`)
    }
    held = answer
    return true
  }
}

const withoutInterim = (text: string): string => {
  let rest = text
  for (let end = BLANK_LINE.exec(rest); end !== null && INTERIM.test(rest); end = BLANK_LINE.exec(rest))
    rest = rest.slice(end.index + end[0].length)
  return rest
}

const FOLDED = /\r?\n(?![\t ])/
const FIELD = /^([\w!#$%&'*+.^`|~-]+)[\t ]*(:[^]*)$/
const LENGTH = /^content-length:([\d\t ,]*)$/i

/** Fields without spaces before the colon, other lines left out, and equal lengths given once. */
const mended = (head: string): string => {
  const [status = "", ...lines] = head.split(FOLDED)
  const fields = lines.flatMap((line) => {
    const [, name, rest = ""] = FIELD.exec(line.replace(/\r$/, "")) ?? []
    return name === undefined ? [] : [name + rest]
  })
  const lengths = fields.flatMap((field) => LENGTH.exec(field)?.[1]?.split(",") ?? [])
  const [length, ...others] = new Set(lengths.map((one) => one.trim()))
  const isOne = length !== undefined && others.length === 0
  const kept = isOne ? fields.filter((field) => !LENGTH.test(field)) : fields
  return [status.replace(/\r$/, ""), ...kept, ...(isOne ? [`Content-Length: ${length}`] : [])].join("\r\n")
}

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
