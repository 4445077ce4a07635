import Ferry
import FerryCore
import FerryTerminal

/// What the worker tells the database, and asks it.
extension FleetWorker {
    /// The number of results in one statement.
    private static let mostResults = 500

    /// Joins the fleet, and goes on with what an earlier process of this worker has left.
    func begin(key: String) async throws {
        self.key = key
        while true {
            do throws(DatabaseError) {
                try await store.checkSchema()
                worker = try await store.join(key: key, name: plan.name)
                budgets = try await store.budgets()
                try await beat()
                break
            } catch {
                if !error.isTransient || error.isDenied { throw error }
                if !times.isAway { report.message("\(error.reason); trying again") }
                times.isAway = true
                try await Task.sleep(for: .seconds(1))
                if isEnding { return }
            }
        }
        times.isAway = false
        try await manager.activate()
        try await findListed()
    }

    /// One turn of the loop. Returns the pause until the next.
    func turn() async throws(DatabaseError) -> Duration {
        times.measure(at: now)
        if let listed { try await adopt(listed) }
        try await deliver()
        for (host, delay) in holds {
            try await store.hold(host, for: delay)
            if holds[host] == delay { holds[host] = nil }
        }
        try await release()
        if now >= times.budgetsAt {
            times.budgetsAt = now + .seconds(30)
            let table = try await store.budgets()
            if table != budgets {
                budgets = table
                machine.requeue { table.key(of: $0) }
            }
        }
        try await reserve()
        for lease in machine.finishable {
            let isEnded = try await store.finish(worker, lease)
            if machine.finished(lease, isEnded: isEnded) {
                report.message("rows of lease \(lease) are missing in the database")
            }
        }
        let hasLeases = try await takeLeases()
        if machine.isEmpty, !hasLeases {
            if plan.endsWhenDone, try await store.isDone() {
                try await store.leave(worker)
                end()
                return .zero
            }
        }
        if now >= times.tidyAt {
            times.tidyAt = now + .seconds(60)
            try await store.tidy()
        }
        // Without work a notification ends the pause.
        return machine.isEmpty ? .seconds(1) : .milliseconds(200)
    }

    /// Sends a heartbeat, and takes over what it answers.
    func beat() async throws(DatabaseError) {
        let sent = now
        let answer: (leases: [FleetLease], seconds: Double)
        do throws(DatabaseError) { answer = try await pulse.beat(worker, lasting: plan.lease) } catch {
            guard error.state == FleetStore.noSuchWorker else { throw error }
            // It was silent for so long that it was forgotten, and has nothing any more.
            worker = try await pulse.join(key: key, name: plan.name)
            answer = try await pulse.beat(worker, lasting: plan.lease)
        }
        if lacksDatabase {
            manager.forgetFailures()
            absent = [:]
        }
        clock.set(answer.seconds, at: now)
        times.beatAt = sent + plan.beatInterval
        if let claimed = times.claimedAt, claimed <= sent { times.claimedAt = nil }
        let gone = machine.beat(answer.leases, deadline: sent + plan.lease - plan.margin).lost
        for key in gone { free(key) }
        lost += gone
        // Files of an earlier process are listed before their rows are read.
        for (lease, keys) in listed ?? [:] where !machine.holds(lease) {
            listed?[lease] = nil
            lost += keys
        }
        changed.notify()
    }

    /// Gives back connections to hosts of which nothing runs or waits.
    private func release() async throws(DatabaseError) {
        guard now >= times.releaseAt else { return }
        times.releaseAt = now + .seconds(5)
        unreleased.formUnion(gate.idle(except: machine.waiting))
        guard !unreleased.isEmpty else { return }
        let hosts = unreleased
        try await store.release(worker, Array(hosts))
        unreleased.subtract(hosts)
    }

    /// Takes a lease while too few rows wait, which the next heartbeat answers, and reads the rows of leases. Returns
    /// whether there is one.
    private func takeLeases() async throws(DatabaseError) -> Bool {
        let ahead = Double(plan.ahead.components.seconds) * times.rowsPerSecond
        let rows = max(plan.parallel, Int(min(ahead, 1e6)))
        if now >= times.claimAt, !isStopping, times.claimedAt == nil, machine.wantsLease(rows: rows) {
            if try await store.claim(worker) {
                times.claimedAt = now
                beatWanted.notify()
            } else {
                times.claimAt = now + .seconds(2)
            }
        }
        for lease in machine.unread {
            let found = try await store.rows(of: lease, within: plan.bounds)
            take(found, of: lease.number)
            changed.notify()
        }
        return times.claimedAt != nil
    }

    /// Enters rows of a lease, those without a usable request as failed.
    func take(_ rows: [FleetRow], of lease: Int64, ended: [RowKey: FleetResult] = [:]) {
        var ended = ended
        for row in rows where row.problem != nil { ended[row.key] = unusable(row) }
        let table = budgets
        machine.add(rows, of: lease, ended: ended) { table.key(of: $0) }
    }

    private func reserve() async throws(DatabaseError) {
        let free = max(0, plan.parallel - machine.runningCount)
        let table = budgets
        let wishes = gate.wishes(machine.waiting, free: free, at: now) {
            table.budget(of: $0) ?? BudgetTable.standard
        }
        guard !wishes.isEmpty else { return }
        // The database's clock at its answer is not later than this one now.
        let grants = try await store.reserve(worker, wishes)
        gate.granted(grants, at: now)
        // They are wanted again, so a release that has not succeeded is none.
        unreleased.subtract(grants.map(\.host))
        changed.notify()
    }

    /// Appends results, and then removes their files from the list. Returns how many.
    @discardableResult
    func deliver() async throws(DatabaseError) -> Int {
        var count = 0
        while true {
            let results = machine.results(most: Self.mostResults)
            if results.isEmpty { return count }
            _ = try await store.append(results)
            machine.delivered(results)
            count += results.count
            await forget(results.map(\.key))
        }
    }
}
