import { lacking } from "../../scripts/programs.mjs"

/** Gives a script mounts and processes that end with it. */
export const ISOLATOR = "unshare"

const ROOT_MAKER = "debootstrap"

/** Why no Debian can be made from nothing; nothing if it can. */
export const whyNoRootMaker = lacking("debootstrap")

/** A copy of this system. */
export const COPY = `
mkdir "$SCRATCH/upper" "$SCRATCH/work" "$SCRATCH/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$SCRATCH/upper,workdir=$SCRATCH/work" "$SCRATCH/root"
# An agent may have run on this machine.
rm -rf "$SCRATCH/root/var/lib/tocsin-agent"
`

/** A Debian with nothing but what it requires, unless options of the maker add to it. */
export const minimal = (...options: ReadonlyArray<string>): string =>
  `${[ROOT_MAKER, "--variant=minbase", ...options].join(" ")} bookworm "$SCRATCH/root" >/dev/null\n`
