/** Why a call failed, for people: what is wrong, what to do, and the request's name in the log. */
export class ApiFailure extends Error {
  readonly code: string
  readonly status: number | undefined
  readonly requestId: string | undefined

  constructor(
    code: string,
    message: string,
    details: { readonly status?: number | undefined; readonly requestId?: string | undefined } = {},
  ) {
    super(message)
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
  }
}

/** The advice for programs at the end of a message; people have {@link hintOf}. */
const FOR_PROGRAMS = /[;:] (?:list|compare) [^;]*(?:with|by) (?:GET|POST) [\s\S]*$/u

export const messageOf = ({ message }: ApiFailure): string => message.replace(FOR_PROGRAMS, "")

export const asFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure ? error : new ApiFailure("unexpected", `the page failed: ${String(error)}`)

/** A failure on the way, with what was done before it. */
export const failureAfter = (done: string, error: unknown): ApiFailure => {
  const failure = asFailure(error)
  return new ApiFailure(failure.code, `${done}, then ${failure.message}`, failure)
}

const UNREACHED = new Set(["connection", "timeout", "unavailable", "unexpected_answer", "proxy"])

export const isUnreached = ({ code }: ApiFailure): boolean => UNREACHED.has(code)

const HINTS: Readonly<Record<string, string>> = {
  connection: "Check your network. The page reconnects by itself.",
  timeout: "The server is slow or unreachable. Try again.",
  unavailable: "A proxy answered in place of the server. Try again in a moment.",
  unexpected_answer:
    "Another program answers at this address, such as a proxy. Try again, or check the address.",
  proxy: "Load the page again to sign in there. Your token stays.",
  unauthorized: "Sign in again.",
  forbidden: "Ask an administrator for a token with a higher role.",
  conflict: "Something changed in the meantime. Look again, then decide.",
  precondition_failed: "Look again, then decide.",
  not_found: "It may have been deleted. Go back to the list.",
  rate_limited: "Wait a moment, then try again.",
  internal: "Try again. If it persists, search the server's log for the request ID.",
}

export const hintOf = ({ code }: ApiFailure): string => HINTS[code] ?? "Correct the input, then try again."

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** How gates answer whom they do not know: by a redirect to their sign-in, or by refusing. */
const PROXY_SIGN_INS = [0, 401, 403, 407]
const PROXY_SIGN_IN = "a proxy before the server asks for a sign-in of its own: load the page again"

/** The failure that an answer with an error status means, whoever wrote its body. */
export const failureOf = (status: number, body: unknown, requestId: string | undefined): ApiFailure => {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : undefined
  if (error !== undefined && typeof error["code"] === "string" && typeof error["message"] === "string") {
    const named = typeof error["request_id"] === "string" ? error["request_id"] : requestId
    return new ApiFailure(error["code"], error["message"], { status, requestId: named })
  }
  // A redirect that is not followed has no status.
  if (PROXY_SIGN_INS.includes(status)) return new ApiFailure("proxy", PROXY_SIGN_IN, { status, requestId })
  if (status === 429)
    return new ApiFailure("rate_limited", "a proxy refuses more requests for now", { status, requestId })
  return status >= 500
    ? new ApiFailure("unavailable", `the server is unavailable (${status})`, { status, requestId })
    : new ApiFailure("unexpected_answer", `an answer that is not Tocsin's (${status})`, { status, requestId })
}
