import { judge, type Transport, type Verdict } from "./Answer.ts"

/** Refusals of a token that no repeat changes. */
const FINAL: ReadonlySet<Verdict> = new Set(["missing", "conflict", "invalid", "blocked"])

interface Enrolling {
  readonly transport: Transport
  /** The token by which a pending agent asks to be accepted; read at each heartbeat, so that another one may come. */
  readonly token: () => string | undefined
  readonly log: (message: string) => void
  /** The wall clock, in milliseconds. */
  readonly now: () => number
}

/**
 * A transport that shows a token once a heartbeat is answered that the key is pending. If the server
 * accepts the key, the heartbeat has the answer of an accepted one. Each token is shown until it is
 * taken or refused.
 */
export const enrolling = ({ log, now, token, transport }: Enrolling): Transport => {
  let ended: string | undefined
  return {
    send: async (request) => {
      const answer = await transport.send(request)
      const shown = token()
      if (request.kind !== "heartbeat" || shown === undefined || shown === ended) return answer
      const { verdict } = judge(answer, "heartbeat", now())
      if (verdict === "taken") ended = shown
      if (verdict !== "pending") return answer
      const body = JSON.stringify({ token: shown })
      const enrolled = judge(
        await transport.send({ ...request, kind: "enrolment", body }),
        "enrolment",
        now(),
      )
      if (enrolled.verdict === "taken") {
        ended = shown
        log("the server accepts this agent by its enrolment token")
        return { ...answer, body: '{"accepted":true}' }
      }
      if (FINAL.has(enrolled.verdict)) {
        ended = shown
        log(`the server refuses the enrolment token: ${enrolled.message}`)
      }
      return answer
    },
  }
}
