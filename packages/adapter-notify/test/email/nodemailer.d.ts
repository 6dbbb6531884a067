/** The part of nodemailer that Tocsin uses, for checks of types alone. */
declare module "nodemailer" {
  import type { Socket } from "node:net"

  export interface PoolOptions {
    readonly pool: true
    readonly maxConnections: number
    readonly maxRequeues: number
    readonly host: string
    readonly port: number
    readonly secure: boolean
    readonly requireTLS: boolean
    readonly ignoreTLS: boolean
    readonly tls?: { readonly servername: string }
    readonly auth?: { readonly user: string; readonly pass: string }
    readonly forceAuth: boolean
    readonly greetingTimeout: number
    readonly socketTimeout: number
    readonly disableFileAccess: true
    readonly disableUrlAccess: true
    readonly getSocket: (
      options: unknown,
      end: (error: Error | null, opened: { connection: Socket } | false) => void,
    ) => void
  }

  export const createTransport: (options: PoolOptions) => {
    readonly sendMail: (
      mail: object & { readonly signal: AbortSignal },
    ) => Promise<{ readonly rejected: ReadonlyArray<unknown> }>
    readonly close: () => void
  }
}
