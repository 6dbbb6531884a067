/** OpenSSL's line, such as `…:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:…`. */
const OPENSSL_REASON = /error:[0-9A-F]{8}:[^:]*:[^:]*:([^:\n]+)/
/** OpenSSL's reasons for an answer that is no TLS. */
const NOT_TLS: ReadonlySet<unknown> = new Set(["wrong version number", "packet length too long"])

/** OpenSSL's reasons against a certificate that need other words. */
const DISTRUST: ReadonlyMap<string, string> = new Map([
  ["permitted subtree violation", "an authority may not issue its names"],
  ["excluded subtree violation", "an authority may not issue its names"],
  ["EE certificate key too weak", "the key of its certificate is too short"],
  ["CA certificate key too weak", "the key of an authority is too short"],
  ["CA signature digest algorithm too weak", "it is signed by an old digest, such as SHA-1"],
])

/** Node's advice for an authority that is not known, which no setting takes. */
const OF_NODE = /; if the root CA is installed locally, .*$/

/** The failure, in the system's words where they can be read. Without `isQuoted`, it has no words of the other side. */
export const explainError = (error: unknown, isQuoted = true): string => {
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map((one) => explainError(one, isQuoted)).join(", ")
  if (!(error instanceof Error)) return String(error)
  const { message } = error
  const code = "code" in error ? String(error.code) : ""
  // Node's words for a connection that ends within an answer, and before its head has ended.
  if (message === "aborted") return "the connection was closed within the answer"
  if (message === "socket hang up") return "the connection was closed without an answer"
  if (code.startsWith("HPE_")) return explainAnswer(code, error, isQuoted)
  const reason = OPENSSL_REASON.exec(message)?.[1]
  if (reason !== undefined)
    return `${NOT_TLS.has(reason) ? "the answer is not TLS" : "TLS failed"} (${reason})`
  const distrust = DISTRUST.get(message)
  if (distrust !== undefined) return `${distrust} (${message})`
  return message === "" && code !== "" ? code : message.replace(OF_NODE, "")
}

const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]+:/
const LENGTHS = /^content-length[\t ]*:(.*)$/gim
const SHOWN = 40
const quoted = (bytes: string): string => JSON.stringify(bytes.trim().slice(0, SHOWN))

/** Why Node's parser refuses an answer: it leaves the packet, and where in it the parser stopped. */
const explainAnswer = (code: string, error: Error, isQuoted: boolean): string => {
  const saying = (words: string): string => (isQuoted ? words : "")
  const packet = "rawPacket" in error && Buffer.isBuffer(error.rawPacket) ? error.rawPacket : ""
  const at = "bytesParsed" in error ? Number(error.bytesParsed) : 0
  const head = packet.toString("latin1")
  const [line = ""] = head.slice(head.lastIndexOf("\n", at - 1) + 1).split("\n")
  const lengths = [...head.matchAll(LENGTHS)].map(([, length = ""]) => length.trim()).join(", ")
  if (/transfer-encoding/i.test(error.message))
    return "the answer has both Content-Length and Transfer-Encoding"
  switch (code) {
    case "HPE_INVALID_CONSTANT":
    case "HPE_INVALID_VERSION":
    case "HPE_INVALID_STATUS":
      return `the answer is not HTTP${saying(`: it begins with ${quoted(line)}`)}`
    case "HPE_UNEXPECTED_CONTENT_LENGTH":
      return `the answer has more than one Content-Length${saying(`: ${lengths}`)}`
    case "HPE_INVALID_CONTENT_LENGTH":
      return `the answer has a Content-Length that is no number${saying(`: ${JSON.stringify(lengths)}`)}`
    case "HPE_HEADER_OVERFLOW":
      return "the header fields of the answer are too long"
    case "HPE_INVALID_HEADER_TOKEN":
    case "HPE_LF_EXPECTED":
      return FIELD_NAME.test(line)
        ? `the header field${saying(` ${line.slice(0, line.indexOf(":"))}`)} holds a control character`
        : `a line of the answer is no header field${saying(`: ${quoted(line)}`)}`
    default:
      return `the answer is not HTTP (${error.message})`
  }
}
