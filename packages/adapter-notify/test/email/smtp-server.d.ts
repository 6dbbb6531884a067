/** The part of smtp-server that tests use. */
declare module "smtp-server" {
  import type { EventEmitter } from "node:events"
  import type { Server } from "node:net"
  import type { Readable } from "node:stream"

  interface Address {
    readonly address: string
  }
  interface Session {
    readonly id: string
    readonly secure: boolean
    readonly user: unknown
    readonly envelope: { readonly mailFrom: Address | false; readonly rcptTo: ReadonlyArray<Address> }
  }
  type End = (error?: Error | null) => void

  export interface SMTPServerOptions {
    readonly secure?: boolean
    readonly key?: string
    readonly cert?: string
    readonly authOptional?: boolean
    readonly disabledCommands?: ReadonlyArray<string>
    readonly disableReverseLookup?: boolean
    readonly closeTimeout?: number
    readonly onAuth?: (
      auth: { readonly username?: string; readonly password?: string },
      session: Session,
      end: (error: Error | null, response?: { readonly user: unknown }) => void,
    ) => void
    readonly onConnect?: (session: Session, end: End) => void
    readonly onMailFrom?: (address: Address, session: Session, end: End) => void
    readonly onRcptTo?: (address: Address, session: Session, end: End) => void
    readonly onData?: (stream: Readable, session: Session, end: End) => void
  }

  export class SMTPServer extends EventEmitter {
    constructor(options: SMTPServerOptions)
    readonly server: Server
    listen(port: number, host: string, listening: () => void): void
    close(closed: () => void): void
  }
}
