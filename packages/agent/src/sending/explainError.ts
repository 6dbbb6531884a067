/** OpenSSL's line, such as `…:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:…`. */
const OPENSSL_REASON = /error:[0-9A-F]{8}:[^:]*:[^:]*:([^:\n]+)/
/** OpenSSL's reasons for an answer that is no TLS. */
const NOT_TLS: ReadonlySet<unknown> = new Set(["wrong version number", "packet length too long"])

/** The failure, in the system's words where they can be read. */
export const explainError = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "")
    return error.errors.map(explainError).join(", ")
  if (!(error instanceof Error)) return String(error)
  const { message } = error
  const code = "code" in error ? String(error.code) : ""
  // Node's word for an answer whose connection ends before it.
  if (message === "aborted") return "the connection was closed within the answer"
  if (code.startsWith("HPE_")) return `the answer is not HTTP (${message})`
  const reason = OPENSSL_REASON.exec(message)?.[1]
  if (reason !== undefined)
    return `${NOT_TLS.has(reason) ? "the answer is not TLS" : "TLS failed"} (${reason})`
  return message === "" && code !== "" ? code : message
}
