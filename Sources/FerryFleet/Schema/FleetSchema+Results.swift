extension FleetSchema {
    /// The results of files. The primary key ensures that each address has at most one result.
    static let results = Migration(
        name: "results",
        statements: [
            """
            CREATE TABLE ferry.result (
                batch integer NOT NULL,
                number bigint NOT NULL,
                lease bigint NOT NULL,
                at timestamptz NOT NULL DEFAULT now(),
                status text NOT NULL,
                line json NOT NULL,
                PRIMARY KEY (batch, number)) PARTITION BY RANGE (batch, number)
            """,
            "CREATE INDEX result_failed ON ferry.result (batch, number) WHERE status <> 'ok'",
            "CREATE TABLE ferry.upkeep (tidied timestamptz NOT NULL)",
            "INSERT INTO ferry.upkeep VALUES (now())",
            append, progress, failures, retry, tidy, forget,
        ])

    /// Appends results whose lease still exists, so a worker that lost its leases because it seemed dead appends nothing. Returns
    /// how many of the results are new.
    private static let append = """
        CREATE FUNCTION ferry.append(given json) RETURNS bigint LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            stored bigint;
        BEGIN
            PERFORM 1 FROM ferry.lease l
                WHERE l.number IN (SELECT (g->>'lease')::bigint FROM json_array_elements(given) AS g) FOR SHARE;
            INSERT INTO ferry.result (batch, number, lease, status, line)
                SELECT l.batch, g.number, g.lease, g.line->>'status', g.line
                FROM json_to_recordset(given) AS g (number bigint, lease bigint, line json)
                JOIN ferry.lease l ON l.number = g.lease AND g.number BETWEEN l.first AND l.first + 499
                ON CONFLICT DO NOTHING;
            GET DIAGNOSTICS stored = ROW_COUNT;
            RETURN stored;
        END $$
        """

    /// The batches with their counts. A batch whose rows have all ended is `done`, even if it was paused or drained. The rate is
    /// that of the rows that have ended in the last two minutes, or since the first one, and is unknown with fewer than two. The
    /// time left is at least the time since the last end, because the last rows are often the slow ones.
    private static let progress = """
        CREATE VIEW ferry.progress AS
            SELECT b.id, b.name, c.state, b.directory, b.priority, b.total, c.completed, c.failed, c.leased, c.waiting, c.rate,
                CASE WHEN c.state = 'open' AND c.rate > 0
                    THEN greatest((c.leased + c.waiting) / c.rate, c.silence) END AS seconds_left
            FROM ferry.batch b
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(d.completed), 0)::bigint AS completed, coalesce(sum(d.failed), 0)::bigint AS failed,
                    min(d.at) AS first_at, max(d.at) AS last_at
                FROM ferry.done d WHERE d.batch = b.id) d
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(r.recent), 0)::bigint AS recent, min(r.first_at) AS first_at
                FROM ferry.done d
                CROSS JOIN LATERAL (
                    SELECT count(*) FILTER (WHERE r.at > now() - interval '2 minutes') AS recent, min(r.at) AS first_at
                    FROM ferry.result r
                    WHERE r.batch = b.id AND r.number BETWEEN d.first AND d.first + 499) r
                WHERE d.batch = b.id AND d.at > now() - interval '2 minutes') n
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(r.ended), 0)::bigint AS ended, coalesce(sum(r.completed), 0)::bigint AS completed,
                    coalesce(sum(least(500, b.total - l.first + 1)) FILTER (WHERE w.until > now()), 0)::bigint AS leased,
                    coalesce(sum(r.ended) FILTER (WHERE w.until > now()), 0)::bigint AS leased_ended,
                    coalesce(sum(r.recent), 0)::bigint AS recent, min(r.first_at) AS first_at, max(r.last_at) AS last_at
                FROM ferry.lease l JOIN ferry.worker w ON w.id = l.worker
                CROSS JOIN LATERAL (
                    SELECT count(*) AS ended, count(*) FILTER (WHERE r.status = 'ok') AS completed,
                        count(*) FILTER (WHERE r.at > now() - interval '2 minutes') AS recent,
                        min(r.at) AS first_at, max(r.at) AS last_at
                    FROM ferry.result r
                    WHERE r.batch = b.id AND r.number BETWEEN l.first AND l.first + 499) r
                WHERE l.batch = b.id) o
            CROSS JOIN LATERAL (
                SELECT d.completed + o.completed AS completed, d.failed + o.ended - o.completed AS failed,
                    o.leased - o.leased_ended AS leased,
                    b.total - d.completed - d.failed - o.ended - (o.leased - o.leased_ended) AS waiting,
                    CASE WHEN b.state IN ('open', 'paused', 'draining') AND b.total = d.completed + d.failed + o.ended
                        THEN 'done' ELSE b.state END AS state,
                    CASE WHEN n.recent + o.recent > 1 THEN (n.recent + o.recent - 1) / greatest(1, extract(epoch FROM
                        least(interval '2 minutes', now() - least(d.first_at, n.first_at, o.first_at))))
                        END::double precision AS rate,
                    extract(epoch FROM now() - greatest(d.last_at, o.last_at))::double precision AS silence) c
        """

    /// Returns the number of failed files of a batch for each reason and HTTP status, the most frequent first; at most 20.
    private static let failures = """
        CREATE FUNCTION ferry.failures(which integer) RETURNS TABLE (reason text, status text, files bigint)
            LANGUAGE sql STABLE AS $$
            SELECT r.line->>'reason', r.line->>'httpStatus', count(*) FROM ferry.result r
            WHERE r.batch = which AND r.status <> 'ok' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20
        $$
        """

    /// Drops the results of failed files, and makes their ranges leases of a dead worker, which ferry.claim takes like any such
    /// lease. Returns the number of these files, and the number of other failed files in ranges that have not ended.
    private static let retry = """
        CREATE FUNCTION ferry.retry(which integer, reasons text[], OUT dropped bigint, OUT kept bigint)
            LANGUAGE plpgsql AS $$
        DECLARE
            ranges bigint[];
            nobody bigint;
        BEGIN
            nobody := ferry.nobody();
            SELECT array_agg(DISTINCT d.first) INTO ranges FROM ferry.result r
                JOIN ferry.done d ON d.batch = which AND d.first = (r.number - 1) / 500 * 500 + 1
                WHERE r.batch = which AND r.status <> 'ok'
                    AND (reasons IS NULL OR r.line->>'reason' = ANY (reasons) OR r.line->>'httpStatus' = ANY (reasons));
            DELETE FROM ferry.result r USING unnest(ranges) AS f (first)
                WHERE r.batch = which AND r.number BETWEEN f.first AND f.first + 499 AND r.status <> 'ok'
                AND (reasons IS NULL OR r.line->>'reason' = ANY (reasons) OR r.line->>'httpStatus' = ANY (reasons));
            GET DIAGNOSTICS dropped = ROW_COUNT;
            INSERT INTO ferry.lease (batch, first, worker) SELECT which, f.first, nobody FROM unnest(ranges) AS f (first)
                ON CONFLICT DO NOTHING;
            DELETE FROM ferry.done d WHERE d.batch = which AND d.first = ANY (ranges);
            SELECT count(*) INTO kept FROM ferry.result r WHERE r.batch = which AND r.status <> 'ok'
                AND (reasons IS NULL OR r.line->>'reason' = ANY (reasons) OR r.line->>'httpStatus' = ANY (reasons))
                AND EXISTS (SELECT 1 FROM ferry.lease l
                    WHERE l.batch = which AND l.first = (r.number - 1) / 500 * 500 + 1);
            PERFORM pg_notify('ferry_work', '');
        END $$
        """

    /// Runs at most once a minute for the whole fleet. Empties the parts of lists whose files are all complete, because they are
    /// not read again, and forgets workers that have been silent for a day. It never waits for a lock, and no other statement waits
    /// for it, because it locks only parts that nobody reads, and no partitioned table.
    private static let tidy = """
        CREATE FUNCTION ferry.tidy() RETURNS void LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            part record;
        BEGIN
            PERFORM 1 FROM ferry.upkeep u WHERE u.tidied < clock_timestamp() - interval '1 minute'
                FOR UPDATE SKIP LOCKED;
            IF NOT FOUND THEN RETURN; END IF;
            UPDATE ferry.upkeep SET tidied = clock_timestamp();
            DELETE FROM ferry.worker w WHERE w.until < clock_timestamp() - interval '1 day' AND w.key <> 'nobody'
                AND NOT EXISTS (SELECT 1 FROM ferry.lease l WHERE l.worker = w.id);
            FOR part IN
                SELECT p.name FROM ferry.batch b CROSS JOIN LATERAL (
                    SELECT c.relname::text AS name, split_part(c.relname, '_', 3)::bigint * b.part_rows AS first
                    FROM pg_class c WHERE c.relnamespace = 'ferry'::regnamespace AND c.relkind = 'r'
                        AND c.relname ~ ('^entry_' || b.id || '_[0-9]+$') AND pg_relation_size(c.oid) > 0) p
                CROSS JOIN LATERAL (
                    SELECT sum(d.completed) AS completed FROM ferry.done d
                    WHERE d.batch = b.id AND d.first > p.first AND d.first <= p.first + b.part_rows) d
                WHERE b.state IN ('open', 'draining') AND d.completed = least(b.part_rows, b.total - p.first)
                    AND NOT EXISTS (SELECT 1 FROM ferry.done f WHERE f.batch = b.id AND f.failed > 0
                        AND f.first > p.first AND f.first <= p.first + b.part_rows)
                LIMIT 16
            LOOP
                BEGIN
                    EXECUTE format('LOCK TABLE ferry.%I IN ACCESS EXCLUSIVE MODE NOWAIT', part.name);
                    EXECUTE format('TRUNCATE ferry.%I', part.name);
                EXCEPTION WHEN lock_not_available OR undefined_table THEN
                    NULL;
                END;
            END LOOP;
        END $$
        """

    /// Withdraws a batch from the workers before its removal, by deleting its leases, ranges and sequence. Its parts stay.
    private static let forget = """
        CREATE FUNCTION ferry.forget(which integer) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            UPDATE ferry.batch b SET state = 'removing' WHERE b.id = which;
            EXECUTE format('DROP SEQUENCE IF EXISTS ferry.next_%s', which);
            DELETE FROM ferry.lease l WHERE l.batch = which;
            DELETE FROM ferry.done d WHERE d.batch = which;
        END $$
        """
}
