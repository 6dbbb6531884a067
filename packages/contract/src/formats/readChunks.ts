interface Reader<Chunk> {
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Chunk | undefined }>
  readonly cancel: () => Promise<unknown>
}

/**
 * Takes the chunks of a stream of the web until it ends, or until `take` throws, which rejects. The iterator of such
 * streams is missing in WebKit, as of 2.50 (November 2026). Every way out cancels the stream, so that nothing is held
 * at its source.
 */
export const readChunks = <Chunk>(
  stream: { readonly getReader: () => Reader<Chunk> },
  take: (chunk: Chunk) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const reader = stream.getReader()
    const end = (settle: () => void): void => {
      // A stream that failed cannot be cancelled any more.
      reader.cancel().catch(() => undefined)
      settle()
    }
    const next = (): void => {
      reader
        .read()
        .then(({ done, value }) => {
          if (done || value === undefined) return end(resolve)
          take(value)
          next()
        })
        .catch((error: unknown) => end(() => reject(error)))
    }
    next()
  })
