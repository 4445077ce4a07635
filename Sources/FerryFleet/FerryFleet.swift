// FerryFleet: many machines download one list, which is stored in PostgreSQL.
//
//     ferry fleet add ──► ListCopy ──► COPY ──► ferry.entry
//     ferry work      ──► FleetWorker: lease ──► rows ──► DownloadManager ──► results ──► ferry.result
//
//     PostgresLink (a thread) ─► PostgresConnection ─► LibPQ (opened at run time)
//     FleetWorker (effects)   ─► LeaseMachine, StartGate, BudgetTable (decisions)
//
// Invariants:
// - An address has at most one result: the primary key of ferry.result is the row of the address, and each result carries the
//   number of its lease.
// - A file has one writer: its name contains its row's number, and a row has one holder, whose work ends before the database gives
//   the lease to another worker.
// - Times come from the database's clock or from a monotonic clock, never from a machine's date.
// - Data from the database is checked as strictly as a list, because other programs may write to the database.
//
// A crash of a worker leaves its list, its part files and its leases, with which the next process continues. After a crash of the
// database, the workers keep their leases, rows and undelivered results.
