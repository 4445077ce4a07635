extension FleetSchema {
    /// Workers and leases.
    ///
    /// The next range of a batch is the next value of a sequence, which has no dead rows. A lease is inserted, and deleted at its
    /// end, which leaves one dead row for 500 addresses. The expiry of a worker's leases is in the worker's row, so a heartbeat is
    /// one update without an index, however many leases the worker holds.
    static let leases = Migration(
        name: "leases",
        statements: [
            "CREATE SEQUENCE ferry.lease_number",
            """
            CREATE TABLE ferry.worker (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                key text NOT NULL UNIQUE CHECK (octet_length(key) <= 128),
                name text NOT NULL CHECK (octet_length(name) <= 256),
                seen timestamptz NOT NULL,
                until timestamptz NOT NULL) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE ferry.lease (
                batch integer NOT NULL,
                first bigint NOT NULL,
                number bigint NOT NULL DEFAULT nextval('ferry.lease_number') UNIQUE,
                worker bigint NOT NULL,
                PRIMARY KEY (batch, first))
            """,
            "CREATE INDEX lease_worker ON ferry.lease (worker)",
            """
            CREATE TABLE ferry.done (
                batch integer NOT NULL,
                first bigint NOT NULL,
                completed integer NOT NULL,
                failed integer NOT NULL,
                at timestamptz NOT NULL DEFAULT now(),
                PRIMARY KEY (batch, first))
            """,
            "CREATE INDEX done_failed ON ferry.done (batch, first) WHERE failed > 0",
            "CREATE TABLE ferry.search (searched timestamptz NOT NULL)",
            "INSERT INTO ferry.search VALUES (now())",
            join, beat, nobody, findGaps, claim, finish, leave, isDone,
        ])

    /// Registers a worker, or finds it by its key. A worker that returns holds a lease only once ferry.beat has confirmed the
    /// lease. Until then it runs nothing, so its shares of hosts are deleted.
    private static let join = """
        CREATE FUNCTION ferry.join(worker_key text, worker_name text) RETURNS bigint LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            found bigint;
        BEGIN
            INSERT INTO ferry.worker (key, name, seen, until) VALUES (worker_key, worker_name, now(), now())
                ON CONFLICT (key) DO UPDATE SET name = excluded.name RETURNING id INTO found;
            DELETE FROM ferry.share s WHERE s.worker = found;
            RETURN found;
        END $$
        """

    /// The heartbeat: extends the worker's leases, and returns them. The update excludes another worker's ferry.claim, which locks
    /// the row too, and the second statement sees the changes that ferry.claim has committed. So two workers never consider the
    /// same lease their own.
    private static let beat = """
        CREATE FUNCTION ferry.beat(me bigint, lasting interval)
            RETURNS TABLE (number bigint, batch integer, first bigint, state text, directory text, name text, total bigint)
            LANGUAGE plpgsql \(definer) AS $$
        BEGIN
            UPDATE ferry.worker w SET seen = clock_timestamp(), until = clock_timestamp() + lasting WHERE w.id = me;
            IF NOT FOUND THEN RAISE EXCEPTION 'no such worker' USING ERRCODE = 'no_data_found'; END IF;
            RETURN QUERY SELECT l.number, l.batch, l.first, b.state, b.directory, b.name, b.total
                FROM ferry.lease l JOIN ferry.batch b ON b.id = l.batch WHERE l.worker = me;
        END $$
        """

    /// Gives the worker at most one lease: the lease of a dead worker, or else the next range. If there is neither, searches for
    /// ranges that were taken from their sequence but never leased.
    private static let claim = """
        CREATE FUNCTION ferry.claim(me bigint) RETURNS SETOF bigint LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            one record;
            dead bigint;
            next_first bigint;
            given bigint;
        BEGIN
            PERFORM 1 FROM ferry.worker w WHERE w.id = me AND w.until > clock_timestamp();
            IF NOT FOUND THEN RETURN; END IF;
            FOR dead IN SELECT w.id FROM ferry.worker w WHERE w.until < clock_timestamp() AND w.id <> me LOOP
                SELECT l.batch, l.first INTO one
                    FROM ferry.worker w JOIN ferry.lease l ON l.worker = w.id JOIN ferry.batch b ON b.id = l.batch
                    WHERE w.id = dead AND w.until < clock_timestamp() AND b.state = 'open'
                    LIMIT 1 FOR UPDATE OF l SKIP LOCKED FOR SHARE OF w SKIP LOCKED;
                IF FOUND THEN
                    UPDATE ferry.lease l SET worker = me, number = nextval('ferry.lease_number')
                        WHERE l.batch = one.batch AND l.first = one.first RETURNING l.number INTO given;
                    RETURN NEXT given;
                    RETURN;
                END IF;
            END LOOP;
            FOR one IN SELECT b.id, b.total FROM ferry.batch b WHERE b.state = 'open'
                ORDER BY b.priority DESC, b.id LOOP
                -- A batch that is being removed has no sequence.
                BEGIN LOOP
                    EXECUTE format('SELECT last_value + CASE WHEN is_called THEN 500 ELSE 0 END FROM ferry.next_%s',
                        one.id) INTO next_first;
                    EXIT WHEN next_first > one.total;
                    next_first := nextval(format('ferry.next_%s', one.id)::regclass);
                    EXIT WHEN next_first > one.total;
                    INSERT INTO ferry.lease (batch, first, worker) SELECT one.id, next_first, me
                        WHERE NOT EXISTS (SELECT 1 FROM ferry.done d WHERE d.batch = one.id AND d.first = next_first)
                        ON CONFLICT DO NOTHING RETURNING ferry.lease.number INTO given;
                    IF given IS NOT NULL THEN
                        RETURN NEXT given;
                        RETURN;
                    END IF;
                END LOOP; EXCEPTION WHEN undefined_table THEN NULL; END;
            END LOOP;
            PERFORM ferry.find_gaps();
        END $$
        """

    /// Runs at most once every five seconds for the whole fleet, after all sequences are exhausted. Ranges that are neither leased
    /// nor done become leases of a dead worker. Such ranges exist because a crash of the database skips up to 32 values of a
    /// sequence, and a connection that is lost in ferry.claim skips one.
    private static let findGaps = """
        CREATE FUNCTION ferry.find_gaps() RETURNS void LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            one record;
            nobody bigint;
        BEGIN
            PERFORM 1 FROM ferry.search s WHERE s.searched < clock_timestamp() - interval '5 seconds'
                FOR UPDATE SKIP LOCKED;
            IF NOT FOUND THEN RETURN; END IF;
            UPDATE ferry.search SET searched = clock_timestamp();
            FOR one IN SELECT b.id, b.total FROM ferry.batch b WHERE b.state = 'open' LOOP
                CONTINUE WHEN (one.total + 499) / 500 <=
                    (SELECT count(*) FROM ferry.done d WHERE d.batch = one.id)
                    + (SELECT count(*) FROM ferry.lease l WHERE l.batch = one.id);
                nobody := ferry.nobody();
                INSERT INTO ferry.lease (batch, first, worker) SELECT one.id, s.first, nobody
                    FROM generate_series(1, one.total, 500) AS s (first)
                    WHERE NOT EXISTS (SELECT 1 FROM ferry.done d WHERE d.batch = one.id AND d.first = s.first)
                        AND NOT EXISTS (SELECT 1 FROM ferry.lease l WHERE l.batch = one.id AND l.first = s.first)
                    ON CONFLICT DO NOTHING;
            END LOOP;
        END $$
        """

    /// Returns the worker that always counts as dead.
    private static let nobody = """
        CREATE FUNCTION ferry.nobody() RETURNS bigint LANGUAGE sql AS $$
            INSERT INTO ferry.worker (key, name, seen, until) VALUES ('nobody', 'nobody', 'epoch', 'epoch')
                ON CONFLICT (key) DO UPDATE SET until = 'epoch' RETURNING id
        $$
        """

    /// Ends a lease if all of its rows have a result. Returns whether it has ended, now or earlier.
    private static let finish = """
        CREATE FUNCTION ferry.finish(me bigint, ended bigint) RETURNS boolean LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            mine record;
            counts record;
        BEGIN
            SELECT l.batch, l.first, least(l.first + 499, b.total) AS last INTO mine
                FROM ferry.lease l JOIN ferry.batch b ON b.id = l.batch
                WHERE l.number = ended AND l.worker = me FOR UPDATE OF l;
            IF NOT FOUND THEN RETURN true; END IF;
            SELECT count(*) AS all_rows, count(*) FILTER (WHERE r.status = 'ok') AS completed INTO counts
                FROM ferry.result r
                WHERE r.batch = mine.batch AND r.number BETWEEN mine.first AND mine.last;
            IF counts.all_rows < mine.last - mine.first + 1 THEN RETURN false; END IF;
            INSERT INTO ferry.done (batch, first, completed, failed)
                VALUES (mine.batch, mine.first, counts.completed, counts.all_rows - counts.completed)
                ON CONFLICT DO NOTHING;
            DELETE FROM ferry.lease l WHERE l.number = ended;
            RETURN true;
        END $$
        """

    /// Whether no batch has a row that a worker could still fetch. Counts the ended ranges only when nothing is leased.
    private static let isDone = """
        CREATE FUNCTION ferry.is_done() RETURNS boolean LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            one record;
            next_first bigint;
        BEGIN
            IF EXISTS (SELECT 1 FROM ferry.batch b WHERE b.state = 'paused' AND (b.total + 499) / 500 >
                (SELECT count(*) FROM ferry.done d WHERE d.batch = b.id)) THEN RETURN false; END IF;
            -- A list that is being read, by a command that still runs.
            IF EXISTS (SELECT 1 FROM ferry.batch b JOIN pg_locks k ON k.locktype = 'advisory' AND k.objsubid = 2
                AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                AND k.classid = \(batchLock) AND k.objid = hashtext(b.name)::bigint & 4294967295
                WHERE b.state = 'adding') THEN RETURN false; END IF;
            FOR one IN SELECT b.id, b.state, b.total FROM ferry.batch b LOOP
                IF one.state = 'draining' THEN
                    IF EXISTS (SELECT 1 FROM ferry.lease l JOIN ferry.worker w ON w.id = l.worker
                        WHERE l.batch = one.id AND w.until > clock_timestamp()) THEN RETURN false; END IF;
                ELSIF one.state = 'open' THEN
                    IF EXISTS (SELECT 1 FROM ferry.lease l WHERE l.batch = one.id) THEN RETURN false; END IF;
                    -- A batch that is being removed has no sequence.
                    BEGIN
                        EXECUTE format('SELECT last_value + CASE WHEN is_called THEN 500 ELSE 0 END FROM ferry.next_%s',
                            one.id) INTO next_first;
                    EXCEPTION WHEN undefined_table THEN CONTINUE;
                    END;
                    IF next_first <= one.total OR (one.total + 499) / 500 >
                        (SELECT count(*) FROM ferry.done d WHERE d.batch = one.id) THEN RETURN false; END IF;
                END IF;
            END LOOP;
            RETURN true;
        END $$
        """

    /// Removes a worker that holds no lease, or lets other workers take its leases.
    private static let leave = """
        CREATE FUNCTION ferry.leave(me bigint) RETURNS void LANGUAGE plpgsql \(definer) AS $$
        BEGIN
            DELETE FROM ferry.share s WHERE s.worker = me;
            UPDATE ferry.worker w SET until = clock_timestamp() WHERE w.id = me;
            DELETE FROM ferry.worker w WHERE w.id = me
                AND NOT EXISTS (SELECT 1 FROM ferry.lease l WHERE l.worker = me);
        END $$
        """
}
