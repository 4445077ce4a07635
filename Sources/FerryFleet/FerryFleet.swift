// FerryFleet: many machines download one list, which PostgreSQL holds.
//
//     ferry fleet add ──► ListCopy ──► COPY ──► ferry.entry
//     ferry work      ──► FleetWorker: lease ──► rows ──► DownloadManager ──► results ──► ferry.result
//
//     PostgresLink (a thread) ─► PostgresConnection ─► LibPQ (opened at run time)
//     FleetWorker (effects)   ─► LeaseMachine, StartGate, BudgetTable (decisions)
//
// Invariants:
// - An address has one result: the primary key of ferry.result, and the number of the lease that each result carries.
// - A file has one writer: its name is made of its row's number, and a row has one holder, whose work ends before the
//   database gives its lease to another.
// - Time is the database's, or that of a clock that never jumps; never a machine's date.
// - What the database holds is checked as a list is: others may write to it.
//
// A crash of a worker leaves its list, its part files and its leases, with which the next process goes on; a crash of
// the database leaves the workers with what they hold.
