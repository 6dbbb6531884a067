import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Predicate } from "effect"

interface RunningPostgres {
  /** Of an account that may do everything. */
  readonly url: string
  /**
   * Stops the server in good order, starts it again, and another one on a copy of its files. Gives
   * the URL of that one.
   */
  readonly copy: () => Promise<string>
  /**
   * Starts a standby of a running server, on the port of a killed one if that is named. Gives its URL.
   * Slow: it copies the server's files.
   */
  readonly standbyOf: (url: string, ...killed: ReadonlyArray<string>) => Promise<string>
  /** Has a standby take writes, on a new timeline. */
  readonly promote: (url: string) => Promise<string>
  /** Ends the replication to a standby, which falls behind from then on. */
  readonly detach: (url: string) => Promise<string>
  /** Kills a running server, this one or a standby, with all its processes. */
  readonly kill: (url: string) => Promise<string>
  /** Stops the server immediately, despite open connections, and removes its files. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a PostgreSQL with an empty data folder on a free port of this machine. It also goes when
 * this process ends without stopping it.
 */
export const startPostgres = (): Promise<RunningPostgres> =>
  new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL("./postgresProcess.ts", import.meta.url)), {
      // Out of reach of Ctrl-C, which is for this process: the server goes when the tests have.
      detached: true,
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    })
    const exited = new Promise<void>((done) => {
      child.once("exit", () => done())
    })
    void exited.then(() =>
      reject(
        new Error("PostgreSQL for the tests did not start: see above, or name another in TEST_DATABASE_URL"),
      ),
    )
    const nextUrl = () =>
      new Promise<string>((told) => {
        child.once("message", (message) => {
          if (Predicate.hasProperty(message, "url") && Predicate.isString(message.url)) told(message.url)
        })
      })
    const order = (...words: ReadonlyArray<string>) => {
      child.send(words)
      return nextUrl()
    }
    const stop = () => {
      child.disconnect()
      return exited
    }
    void nextUrl().then((url) =>
      resolve({
        url,
        copy: () => order("copy", url),
        standbyOf: (original, ...killed) => order("standby", original, ...killed),
        promote: (standby) => order("promote", standby),
        detach: (standby) => order("detach", standby),
        kill: (killed) => order("kill", killed),
        stop,
      }),
    )
  })
