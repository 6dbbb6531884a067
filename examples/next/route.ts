// app/monitoring/[[...path]]/route.ts of a Next.js app: serves /monitoring/api/v1/… to agents and operators.
// The import needs allowImportingTsExtensions in tsconfig.json; without it, import "./monitor".
import { monitor } from "./monitor.ts"

const handle = async (request: Request): Promise<Response> => (await monitor()).fetch(request)

// Next.js answers OPTIONS itself unless it is here, and preflights of allowedOrigins would fail.
export { handle as DELETE, handle as GET, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT }
