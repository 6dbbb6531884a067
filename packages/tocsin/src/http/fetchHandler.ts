import type { Activity } from "./Activity.ts"
import { bodyIsGone, closedAnswer, type HostError } from "./hostError.ts"

const toResponse = ({ status, headers, body }: HostError): Response => new Response(body, { status, headers })

interface FetchHandlerOptions {
  readonly web: (request: Request) => Promise<Response>
  readonly isClosed: () => boolean
  readonly activity: Activity
}

/** The API as a web-standard handler. Takes one argument whatever else a framework passes. */
export const fetchHandler =
  ({ web, isClosed, activity }: FetchHandlerOptions) =>
  async (request: Request): Promise<Response> => {
    if (isClosed()) return toResponse(closedAnswer())
    if (request.bodyUsed) return toResponse(bodyIsGone())
    const end = activity.begin()
    try {
      return await web(request)
    } finally {
      end()
    }
  }
