/** The installing script without its checksums, and the agent's tarball in base64. */
export declare const files: () => Promise<{
  readonly version: string
  readonly installer: string
  readonly tarball: string
}>
