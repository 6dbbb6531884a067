import { type ChildProcess, fork } from "node:child_process"

/** The answer of a worker: a result or an error. */
export type WorkerAnswer<Reply> = { readonly reply: Reply } | { readonly failure: string }

/**
 * A Node.js process of the harness that carries out commands, one at a time. It ends when its
 * parent does.
 */
export class WorkerProcess<Command extends object, Reply> {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static start<Command extends object, Reply>(module: URL): WorkerProcess<Command, Reply> {
    const child = fork(module, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] })
    return new WorkerProcess(child)
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  ask(command: Command): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void) => {
        this.#child.off("message", onMessage)
        this.#child.off("exit", onExit)
        settled()
      }
      // Both ends of this channel are this program: answerCommands sends nothing else.
      const onMessage = (message: unknown) =>
        settle(() => {
          const answer = message as WorkerAnswer<Reply>
          if ("failure" in answer) reject(new Error(answer.failure))
          else resolve(answer.reply)
        })
      const onExit = () => settle(() => reject(new Error("a process of the harness ended early: see above")))
      this.#child.on("message", onMessage)
      this.#child.on("exit", onExit)
      this.#child.send(command)
    })
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return resolve()
      this.#child.once("exit", () => resolve())
      this.#child.kill("SIGKILL")
    })
  }
}
