import type { Answer } from "../http/client/Answer.ts"

const HEAD = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/

const utf8 = (latin1: string): string => Buffer.from(latin1, "latin1").toString()

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The chunks at the start of a text, and its rest; `undefined` if one is malformed. */
const unchunked = (text: string): readonly [body: string, rest: string] | undefined => {
  let body = ""
  for (let rest = text; ;) {
    const [line = "", digits = ""] = /^([0-9a-f]+)\r\n/i.exec(rest) ?? []
    // A stream that its client has left ends anywhere.
    if (rest === "") return [body, ""]
    if (line === "") return undefined
    const size = Number.parseInt(digits, 16)
    body += rest.slice(line.length, line.length + size)
    rest = rest.slice(line.length + size)
    if (!rest.startsWith("\r\n") && rest !== "") return undefined
    rest = rest.slice(2)
    if (size === 0) return [body, rest]
  }
}

const bodyOf = (headers: Answer["headers"], text: string): readonly [string, string] | undefined => {
  if (headers["transfer-encoding"] === "chunked") return unchunked(text)
  const length = Number(headers["content-length"] ?? 0)
  // An answer to HEAD states a length and has no body.
  return text === "" || text.startsWith("HTTP/1.1 ")
    ? ["", text]
    : [text.slice(0, length), text.slice(length)]
}

/** The answers in what a connection brought; `undefined` if that is not a sequence of answers. */
export const answersIn = (received: string): ReadonlyArray<Answer> | undefined => {
  const answers: Array<Answer> = []
  for (let rest = received; rest !== "";) {
    const [head, status = "", fields = ""] = HEAD.exec(rest) ?? []
    if (head === undefined) return undefined
    const rawHeaders = fields
      .split("\r\n")
      .filter((line) => line !== "")
      .flatMap((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()])
    const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, at) =>
      rawHeaders.slice(2 * at, 2 * at + 2),
    )
    const headers = Object.fromEntries(pairs.map(([name = "", value]) => [name.toLowerCase(), value]))
    const found = bodyOf(headers, rest.slice(head.length))
    if (found === undefined) return undefined
    const text = utf8(found[0])
    rest = found[1]
    if (!status.startsWith("1"))
      answers.push({ status: Number(status), headers, rawHeaders, text, body: parsed(text) })
  }
  return answers
}
