import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { failureHeadline, headlineOf, isJobOutput } from "../../src/formats/headline.ts"
import { lastOutput } from "../../src/formats/outputText.ts"
import { plainLine } from "../../src/formats/plainLine.ts"

/** The headline of a text, and the number of characters split off for it. */
const counted = (output: string): { readonly line: string | undefined; readonly characters: number } => {
  const steps: { next: () => unknown } = Object.getPrototypeOf(""[Symbol.iterator]())
  const { next } = steps
  let characters = 0
  steps.next = function (this: unknown) {
    characters += 1
    return next.call(this)
  }
  try {
    return { line: headlineOf(output), characters }
  } finally {
    steps.next = next
  }
}

describe("a headline", () => {
  it("is the first line that is not blank, of at most 512 characters, each of them whole", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "😀", "\n", "\r", " "), maxLength: 1_200 })
    const long = fc.string({ unit: fc.constantFrom("a", "é", "😀"), minLength: 500, maxLength: 1_200 })
    fc.assert(
      fc.property(fc.oneof(text, long), (output) => {
        const [line = ""] = output.split(/[\r\n]/).flatMap((one) => one.trim() || [])
        const kept = Array.from(line).slice(0, 512).join("")
        assert.strictEqual(headlineOf(output), kept === "" ? undefined : kept)
      }),
      { numRuns: 200 },
    )
  })

  it.each(["a", "😀"])("of %s splits off no more characters than it may keep", (character) => {
    const { line, characters } = counted(character.repeat(8_192))
    assert.strictEqual(line, character.repeat(512))
    assert.isAtMost(characters, 2 * 512 + 1)
  })

  it.each<[string, string | undefined]>([
    ["", undefined],
    [" \n\t\r\n", undefined],
    ["\n\nDISK CRITICAL - / is full", "DISK CRITICAL - / is full"],
    [" \r\n\u001b[0m\n\u001b[31merror\u001b[0m: no route", "error: no route"],
    ["\u0001\u0002\n\u200b\n\u00ad\u2060\ufeff\nno route", "no route"],
    ["\u0001\n\u007f\n\u200b", undefined],
    ["a\u200bb\nc", "a\u200bb"],
    ["\ue0b0 prompt", "\ue0b0 prompt"],
    ["10 %\r20 %\rdone\n", "10 %"],
    ["\u001b]0;a title\u0007\u001b[1;38:2::255:0:0mred\u001b[m", "red"],
    ["\u001b]8;;https://a.example\u001b\\a link\u001b]8;;\u001b\\ and more", "a link and more"],
    ["\u001b(B\u001b[?25l\u001b[2K\u009b1mbold\u001b", "bold"],
    ["\u001b]0;a title without its end", "a title without its end"],
    ["\u001bP1;2;no end of a string", "no end of a string"],
    ["cut within a colour \u001b[1;31", "cut within a colour"],
    ["\u001b[38;5;\nred", "red"],
    // Cut: at the start, behind a headline, and at the end.
    ["...[truncated 5756 bytes]\nlast words", "last words"],
    ["...[truncated 5756 bytes]", undefined],
    ["\n  first words...[truncated 9 bytes]", "first words"],
    ["[truncated 9 bytes] is not ours", "[truncated 9 bytes] is not ours"],
    // Performance data.
    ["DISK OK - 3 GiB free | /=12GiB;20;10;0;100 '/var log'=1.5%", "DISK OK - 3 GiB free"],
    ["LOAD OK |", "LOAD OK"],
    ["\n| a=1 b=2\nmore words|c=1", "more words"],
    ["| a=1", undefined],
    ["cat a | grep b failed", "cat a | grep b failed"],
    ["a=1 | b=2 and words", "a=1 | b=2 and words"],
    ["TEMP OK | t=1,5C", "TEMP OK"],
    ["TEMP OK | t=U", "TEMP OK"],
    [
      "PING CRITICAL - Packet loss = 100%|rta=U;100;500;; pl=100%;20;60;0;",
      "PING CRITICAL - Packet loss = 100%",
    ],
    ["OK: Accepted: 37.00/s | 'accepted'=37.00connections/s;;;0; o''brien=25;1;2", "OK: Accepted: 37.00/s"],
    ["OK - a | b, see http://x/?a=1", "OK - a | b, see http://x/?a=1"],
    [
      'Traceback (most recent call last):\n  File "check.py", line 3, in <module>\n    main()\nValueError: no disk\n',
      "ValueError: no disk",
    ],
    ["Traceback (most recent call last):", "Traceback (most recent call last):"],
    // Node.js 24.22: the fields of an error of the system, and of a module that is missing.
    [
      "node:fs:621\n  return binding.open(\n                 ^\n\nError: ENOENT: no such file or directory, open '/nope'\n    at Object.openSync (node:fs:621:18)\n    at node:internal/main/run_main_module:33:47 {\n  errno: -2,\n  code: 'ENOENT',\n  syscall: 'open',\n  path: '/nope'\n}\n\nNode.js v24.22.3\n",
      "Error: ENOENT: no such file or directory, open '/nope'",
    ],
    [
      "node:internal/modules/cjs/loader:1568\n  throw err;\n  ^\n\nError: Cannot find module './x'\nRequire stack:\n- /srv/b.cjs\n    at Module._compile (node:internal/modules/cjs/loader:1929:14) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: [\n    '/srv/b.cjs'\n  ]\n}\n\nNode.js v24.22.3",
      "Error: Cannot find module './x'",
    ],
    [
      'During handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "c.py", line 3, in <module>\nKeyError: 1',
      "KeyError: 1",
    ],
    ["A OK | a=1 | b=2", "A OK | a=1 | b=2"],
    ["DISK OK | a=1 b=2;3;...[truncated 800 bytes]", "DISK OK"],
    ["DISK OK | a=1 'b c=...[truncated 800 bytes]", "DISK OK | a=1 'b c="],
    ["DISK OK | a=1 b...[truncated 800 bytes]", "DISK OK"],
  ])("of %j is %j", (output, expected) => assert.strictEqual(headlineOf(output), expected))

  it.each([
    ["exit 11", "begin\nerror: disk full\n\n \n", "exit 11: error: disk full"],
    ["failed", "", "failed"],
    ["failed", " \n\u001b[0m\n", "failed"],
    ["exit 1", "disk full\n\u200b\n\u0007\n", "exit 1: disk full"],
    ["exit 1", " | x=1", "exit 1"],
    ["exit 1", "disk full\n| x=1 y=2", "exit 1: disk full"],
    ["timed out after 5 s", "10 %\r90 %\r", "timed out after 5 s: 90 %"],
    ["ended by SIGKILL", "\u001b[31mno memory\u001b[0m", "ended by SIGKILL: no memory"],
    ["exit 1", "x".repeat(600), `exit 1: ${"x".repeat(504)}`],
  ])("of a job that %s begins with that: %j", (end, output, expected) => {
    assert.strictEqual(failureHeadline(end, output), expected)
  })
})

// Outputs of Debian 12's borgmatic 1.7.7, certbot 2.1.0, git 2.39.5, GNU Make 4.3, GNU tar 1.34, restic 0.14.0,
// rsync 3.5.0, pg_dump 15 and Python 3.11, of Node.js 20 and 24 and of npm 11, which failed on purpose.
describe("the headline of a failed program", () => {
  it.each([
    [
      "borgmatic",
      "summary:\nbm.yaml: Error running configuration file\n/srv/repo.borg: Error running actions for repository\nRepository /srv/repo.borg does not exist.\nCommand 'borg create /srv/repo.borg::{hostname} /etc' returned non-zero exit status 2.\n\nNeed some help? https://torsion.org/borgmatic/#issues",
      "Repository /srv/repo.borg does not exist.",
    ],
    [
      "certbot",
      "Saving debug log to /var/log/letsencrypt/letsencrypt.log\nNo certificate found with name a (expected /etc/letsencrypt/renewal/a.conf).\nAsk for help or search for solutions at https://community.letsencrypt.org. See the logfile a.log or re-run Certbot with -v for more details.",
      "No certificate found with name a (expected /etc/letsencrypt/renewal/a.conf).",
    ],
    [
      "git",
      "Cloning into 'x'...\nssh: connect to host 127.0.0.1 port 22: Connection refused\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.",
      "fatal: Could not read from remote repository.",
    ],
    [
      "git push",
      "error: src refspec main does not match any\nerror: failed to push some refs to 'https://127.0.0.1:9/x.git'",
      "error: src refspec main does not match any",
    ],
    // apt 2.6.1, npm 11.19.1, Yarn 1.22.22 and pnpm 10.34.9 in November 2026; the next six by their documentation.
    [
      "apt",
      "Reading package lists...\nW: Failed to fetch http://127.0.0.1:9/debian/dists/x/InRelease  Could not connect to 127.0.0.1:9 (127.0.0.1). - connect (111: Connection refused)\nW: Some index files failed to download. They have been ignored, or old ones used instead.",
      "W: Failed to fetch http://127.0.0.1:9/debian/dists/x/InRelease  Could not connect to 127.0.0.1:9 (127.0.0.1). - connect (111: Connection refused)",
    ],
    [
      "npm without the script",
      'npm error Missing script: "nothing"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\nnpm error A complete log of this run can be found in: /root/.npm/_logs/a.log',
      'npm error Missing script: "nothing"',
    ],
    [
      "Yarn",
      "$ node a.js\nError: disk is full\nerror Command failed with exit code 3.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.",
      "Error: disk is full",
    ],
    [
      "pnpm",
      "Error: disk is full\n ELIFECYCLE  Command failed with exit code 3.\n WARN   Local package.json exists, but node_modules missing, did you mean to install?",
      "Error: disk is full",
    ],
    [
      "Maven",
      "[ERROR] Failed to execute goal on project shop: Could not resolve dependencies -> [Help 1]\n[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n[ERROR] For more information about the errors and possible solutions, please read the following articles:\n[ERROR] [Help 1] http://cwiki.apache.org/confluence/x/y",
      "[ERROR] Failed to execute goal on project shop: Could not resolve dependencies -> [Help 1]",
    ],
    [
      "Gradle",
      "* What went wrong:\nExecution failed for task ':compileJava'.\n\n* Try:\n> Run with --stacktrace option to get the stack trace.\n> Get more help at https://help.gradle.org.\n\nBUILD FAILED in 1s",
      "Execution failed for task ':compileJava'.",
    ],
    [
      "Rust",
      "thread 'main' panicked at src/main.rs:2:5:\nfailed to open the disk\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
      "failed to open the disk",
    ],
    [
      "Cargo",
      'error[E0425]: cannot find value `x` in this scope\nerror: could not compile `shop` (bin "shop") due to 1 previous error',
      "error[E0425]: cannot find value `x` in this scope",
    ],
    [
      "Ansible",
      'fatal: [web-1]: FAILED! => {"msg": "no space left"}\n\nPLAY RECAP ****\nweb-1 : ok=1 changed=0 unreachable=0 failed=1 skipped=0',
      'fatal: [web-1]: FAILED! => {"msg": "no space left"}',
    ],
    [
      "certbot renew",
      "Failed to renew certificate a with error: DNS problem\n- - - - -\n1 renew failure(s), 0 parse failure(s)",
      "Failed to renew certificate a with error: DNS problem",
    ],
    ["a program that counts its errors", "Finished with 3 errors\nDone.", "Finished with 3 errors"],
    ["a program that counts none", "disk is missing\nFinished with 0 errors", "disk is missing"],
    ["make", "false\nmake: *** [Makefile:2: all] Error 1", "make: *** [Makefile:2: all] Error 1"],
    [
      "make in folders",
      "gcc a.c\ncc1: fatal error: a.c: No such file or directory\ncompilation terminated.\nmake[1]: *** [Makefile:2: all] Error 1\nmake[1]: Leaving directory '/srv/sub'\nmake: *** [Makefile:2: all] Error 2",
      "cc1: fatal error: a.c: No such file or directory",
    ],
    [
      "Node.js",
      'file:///srv/t.mjs:1\nthrow new Error("disk is full")\n      ^\n\nError: disk is full\n    at file:///srv/t.mjs:1:7\n    at ModuleJob.run (node:internal/modules/esm/module_job:325:25)\n    at async ModuleLoader.import (node:internal/modules/esm/loader:606:24)\n\nNode.js v20.20.2',
      "Error: disk is full",
    ],
    [
      "npm",
      "npm error code ENOENT\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory\nnpm error enoent This is related to npm not being able to find a file.\nnpm error enoent\nnpm error A complete log of this run can be found in: /root/.npm/_logs/a.log\nnpm notice New minor version of npm available!",
      "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory",
    ],
    [
      "pg_dump",
      'pg_dump: error: connection to server at "127.0.0.1", port 9 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?',
      'pg_dump: error: connection to server at "127.0.0.1", port 9 failed: Connection refused',
    ],
    [
      "restic",
      "Fatal: unable to open config file: stat /srv/repo/config: no such file or directory\nIs there a repository at the following location?\n/srv/repo",
      "Fatal: unable to open config file: stat /srv/repo/config: no such file or directory",
    ],
    [
      "rsync",
      'rsync: [sender] link_stat "/none" failed: No such file or directory (2)\nhostname\n\nsent 107 bytes  received 59 bytes  332.00 bytes/sec\ntotal size is 3  speedup is 0.02\nrsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1394) [sender=3.5.0]',
      'rsync: [sender] link_stat "/none" failed: No such file or directory (2)',
    ],
    [
      "tar",
      "tar: Removing leading `/' from member names\ntar: /none: Cannot stat: No such file or directory\ntar: Exiting with failure status due to previous errors",
      "tar: /none: Cannot stat: No such file or directory",
    ],
    [
      "Python",
      "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nFileNotFoundError: [Errno 2] No such file or directory: '/none'",
      "FileNotFoundError: [Errno 2] No such file or directory: '/none'",
    ],
    [
      "tar whose child failed",
      "tar: Removing leading `/' from member names\ntar (child): /none/a.tgz: Cannot open: No such file or directory\ntar (child): Error is not recoverable: exiting now\ntar: Child returned status 2\ntar: Error is not recoverable: exiting now",
      "tar (child): /none/a.tgz: Cannot open: No such file or directory",
    ],
    [
      "tar of no archive",
      "\ngzip: stdin: not in gzip format\ntar: Child returned status 1\ntar: Error is not recoverable: exiting now",
      "gzip: stdin: not in gzip format",
    ],
    // Perl 5.36, Node.js 20, npm 10.8, GCC 12, OpenJDK 17, mount 2.38, dpkg 1.21, nginx 1.22 and rsnapshot 1.4 in November 2026.
    [
      "Perl",
      "Can't locate Net/DNS.pm in @INC at /usr/bin/job line 3.\nBEGIN failed--compilation aborted at /usr/bin/job line 3.\nCompilation failed in require at a.pl line 1.",
      "Can't locate Net/DNS.pm in @INC at /usr/bin/job line 3.",
    ],
    [
      "Node.js that throws a text",
      '[eval]:1\nthrow "the disk is full"\n^\nthe disk is full\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v20.20.2',
      "the disk is full",
    ],
    [
      "npm without a registry",
      "npm error code ECONNREFUSED\nnpm error FetchError: request to http://127.0.0.1:9/x failed, reason: connect ECONNREFUSED 127.0.0.1:9\nnpm error     at ClientRequest.<anonymous> (index.js:130:14) {\nnpm error   code: 'ECONNREFUSED',\nnpm error   errno: 'ECONNREFUSED',\nnpm error   type: 'system'\nnpm error }\nnpm error\nnpm error If you are behind a proxy, please make sure that the 'proxy' config is set properly.  See: 'npm help config'\nnpm error A complete log of this run can be found in: /root/.npm/_logs/a.log",
      "npm error FetchError: request to http://127.0.0.1:9/x failed, reason: connect ECONNREFUSED 127.0.0.1:9",
    ],
    [
      "a linker",
      "/usr/bin/ld: /tmp/a.o: in function `main':\nb.c:(.text+0xa): undefined reference to `f'\ncollect2: error: ld returned 1 exit status",
      "b.c:(.text+0xa): undefined reference to `f'",
    ],
    [
      "Java",
      'B.java:1: error: incompatible types: String cannot be converted to int\npublic class B{int x = "s";}\n                       ^\n1 error\nerror: compilation failed',
      "B.java:1: error: incompatible types: String cannot be converted to int",
    ],
    [
      "mount",
      "mount: /mnt: special device /dev/none does not exist.\n       dmesg(1) may have more information after failed mount system call.",
      "mount: /mnt: special device /dev/none does not exist.",
    ],
    [
      "apt whose package failed",
      "dpkg: error processing package shop (--configure):\n installed shop package post-installation script subprocess returned error exit status 1\nErrors were encountered while processing:\n shop\nE: Sub-process /usr/bin/dpkg returned an error code (1)",
      "dpkg: error processing package shop (--configure):",
    ],
    [
      "nginx",
      '2026/11/30 20:35:10 [emerg] 26577#26577: open() "/none" failed (2: No such file or directory)\nnginx: configuration file /none test failed',
      '2026/11/30 20:35:10 [emerg] 26577#26577: open() "/none" failed (2: No such file or directory)',
    ],
    [
      "rsnapshot",
      "ERROR: a.conf on line 5:\nERROR: backup /none/ local/ - Source directory \"/none/\" doesn't exist \nERROR: ---------------------------------------------------------------------\nERROR: Errors were found in a.conf,\nERROR: rsnapshot can not continue. If you think an entry looks right, make\nERROR: sure you don't have spaces where only tabs should be.",
      'ERROR: backup /none/ local/ - Source directory "/none/" doesn\'t exist',
    ],
    // By its documentation.
    [
      "vzdump",
      "ERROR: Backup of VM 100 failed - no space left on device\nINFO: Failed at 2026-11-30 03:00:12\nINFO: Backup job finished with errors\njob errors",
      "ERROR: Backup of VM 100 failed - no space left on device",
    ],
    [
      "Rust with its frames",
      "thread 'main' panicked at src/main.rs:2:5:\nfailed to open the disk\nstack backtrace:\n   0: rust_begin_unwind\n   1: core::result::unwrap_failed\n             at /rustc/a/library/core/src/result.rs:1:5\nnote: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
      "failed to open the disk",
    ],
    [
      "git whose push was rejected",
      "To /srv/x.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to '/srv/x.git'\nhint: Updates were rejected because the remote contains work that you do not",
      "! [rejected]        main -> main (fetch first)",
    ],
    ["a program of one's own", "copying\ndisk is 100 % used", "disk is 100 % used"],
    ["an error that was overcome long ago", `error: try again\n${"copied\n".repeat(50)}gave up`, "gave up"],
  ])("of %s says why", (_, output, expected) => {
    assert.strictEqual(failureHeadline("exit 1", output), `exit 1: ${expected}`)
    assert.isTrue(isJobOutput(lastOutput(output, { end: "exit 1" }).output ?? ""))
  })
})

describe("the output of a job", () => {
  const end = fc.constantFrom("exit 1", "exit 255", "failed", "ended by SIGKILL", "timed out after 2.5 s")
  const text = fc
    .array(fc.constantFrom("a: b", "failed", " ", "\u001b[31mred", "| x=1", "\r", "é".repeat(700)), {
      maxLength: 30,
    })
    .map((lines) => lines.join("\n"))

  it("is known by how it begins, also where it was cut", () => {
    fc.assert(
      fc.property(end, text, (how, said) => {
        assert.isTrue(isJobOutput(lastOutput(said, { end: how }).output ?? ""))
      }),
      { numRuns: 100 },
    )
    assert.isTrue(isJobOutput(lastOutput("x\n".repeat(9_000)).output ?? ""))
  })

  it.each([
    "DISK OK",
    "exit 1: disk full\nelsewhere",
    "failed: to connect\ntry again",
    "exit: a\na",
    "the end...[truncated 9 bytes]",
    "",
  ])("is not %j", (output) => assert.isFalse(isJobOutput(output)))
})

it("a line for a terminal has no colours, and keeps what JSON needs", () => {
  assert.strictEqual(plainLine("\u001b[1;31mred\u001b[0m\u001b[K alert\u0007"), "red alert")
  const text = JSON.stringify({ a: "\u009b", b: "\u009b1" })
  assert.deepStrictEqual(JSON.parse(plainLine(text)), { a: " ", b: " 1" })
})
