// The command line interface: from arguments to the `DownloadManager`, and from its events to the terminal.
//
//     argument memory ──► CommandArguments (read, then secrets are overwritten)
//     arguments as text ──► GetPlanner ──► GetPlan: a configuration and one request per file
//     GetPlan ──► GetRun ──► DownloadManager ──► events and statuses
//     events, statuses ──► Reporter ──► bars | plain lines | JSON lines ──► Console ──► stdout, stderr
//
// Invariants
// - Standard output contains only one of these: paths of finished files, JSON lines, results (`--results -`), or the bytes
//   of one file (`-o -`).
// - Every usage error is one line, and is detected before any byte is downloaded.
// - Text from servers is escaped before it is shown; secrets are never shown.
// - No drawn line is wider than the terminal, because bars are redrawn by moving the cursor up.
//
// A crash leaves a results file (`ResultsLog`) behind, and the next run continues from its last checkpoint. All other
// files on disk belong to the engine.
