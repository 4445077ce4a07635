// What the terminal sees of Ferry: everything between the words a person types and the façade, and back.
//
//     argument memory ──► CommandArguments (taken, then blanked)
//     options as text ──► GetPlanner ──► GetPlan: a configuration and one request per file
//     GetPlan ──► GetRun ──► DownloadManager ──► events and statuses
//     events, statuses ──► Reporter ──► bars | plain lines | JSON lines ──► Console ──► stdout, stderr
//
// Invariants
// - Standard output holds finished paths, or JSON lines, or the bytes of one file (`-o -`), and nothing else.
// - Every usage error is found before a byte is fetched, and is one line.
// - What a server said is escaped before it is shown; secrets are not shown at all.
// - No drawn line is ever wider than the terminal: the bar is redrawn by moving the cursor up over it.
//
// A crash leaves nothing of this target behind; what is on disk belongs to the engine.
