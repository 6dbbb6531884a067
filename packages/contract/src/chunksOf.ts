interface Reader<Chunk> {
  readonly read: () => Promise<{ readonly done: boolean; readonly value?: Chunk | undefined }>
  readonly cancel: () => Promise<unknown>
}

/**
 * The chunks of a stream of the web. Its own iterator is missing in WebKit, as of 2.50 (November 2026). Every way
 * out cancels the stream, so that nothing is held at its source.
 */
export async function* chunksOf<Chunk>(stream: { readonly getReader: () => Reader<Chunk> }) {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done || value === undefined) return
      yield value
    }
  } finally {
    // A stream that failed cannot be cancelled any more.
    reader.cancel().catch(() => undefined)
  }
}
