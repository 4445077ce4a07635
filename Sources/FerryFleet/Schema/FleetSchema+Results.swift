extension FleetSchema {
    /// The ends of files. The primary key is the proof that each address has one result at most.
    static let results = Migration(
        name: "results",
        statements: [
            """
            CREATE TABLE ferry.result (
                batch integer NOT NULL,
                number bigint NOT NULL,
                lease bigint NOT NULL,
                status text NOT NULL,
                line json NOT NULL,
                PRIMARY KEY (batch, number)) PARTITION BY RANGE (batch, number)
            """,
            "CREATE TABLE ferry.upkeep (tidied timestamptz NOT NULL)",
            "INSERT INTO ferry.upkeep VALUES (now())",
            append, progress, retry, tidy, remove,
        ])

    /// Appends results of leases that are still held: a worker that was thought dead appends nothing. Returns how many of
    /// them are stored, now or earlier.
    private static let append = """
        CREATE FUNCTION ferry.append(given json) RETURNS bigint LANGUAGE plpgsql AS $$
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

    private static let progress = """
        CREATE VIEW ferry.progress AS
            SELECT b.id, b.name, b.state, b.directory, b.total, d.completed + o.completed AS completed,
                d.failed + o.ended - o.completed AS failed, o.leased - o.leased_ended AS leased,
                b.total - d.completed - d.failed - o.ended - (o.leased - o.leased_ended) AS waiting
            FROM ferry.batch b
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(d.completed), 0)::bigint AS completed, coalesce(sum(d.failed), 0)::bigint AS failed
                FROM ferry.done d WHERE d.batch = b.id) d
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(r.ended), 0)::bigint AS ended, coalesce(sum(r.completed), 0)::bigint AS completed,
                    coalesce(sum(least(500, b.total - l.first + 1)) FILTER (WHERE w.until > now()), 0)::bigint AS leased,
                    coalesce(sum(r.ended) FILTER (WHERE w.until > now()), 0)::bigint AS leased_ended
                FROM ferry.lease l JOIN ferry.worker w ON w.id = l.worker
                CROSS JOIN LATERAL (
                    SELECT count(*) AS ended, count(*) FILTER (WHERE r.status = 'ok') AS completed
                    FROM ferry.result r
                    WHERE r.batch = b.id AND r.number BETWEEN l.first AND l.first + 499) r
                WHERE l.batch = b.id) o
        """

    /// Drops the results of failed files, and makes leases of their ranges that a dead worker holds: ferry.claim takes them
    /// as it takes all such leases. Returns how many files.
    private static let retry = """
        CREATE FUNCTION ferry.retry(which integer, reasons text[]) RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
            ranges bigint[];
            dropped bigint;
            nobody bigint;
        BEGIN
            nobody := ferry.nobody();
            SELECT array_agg(d.first) INTO ranges FROM ferry.done d WHERE d.batch = which AND d.failed > 0
                AND (reasons IS NULL OR EXISTS (SELECT 1 FROM ferry.result r WHERE r.batch = which
                    AND r.number BETWEEN d.first AND d.first + 499 AND r.status <> 'ok'
                    AND (r.line->>'reason' = ANY (reasons) OR r.line->>'httpStatus' = ANY (reasons))));
            DELETE FROM ferry.result r USING unnest(ranges) AS f (first)
                WHERE r.batch = which AND r.number BETWEEN f.first AND f.first + 499 AND r.status <> 'ok'
                AND (reasons IS NULL OR r.line->>'reason' = ANY (reasons) OR r.line->>'httpStatus' = ANY (reasons));
            GET DIAGNOSTICS dropped = ROW_COUNT;
            INSERT INTO ferry.lease (batch, first, worker) SELECT which, f.first, nobody FROM unnest(ranges) AS f (first)
                ON CONFLICT DO NOTHING;
            DELETE FROM ferry.done d WHERE d.batch = which AND d.first = ANY (ranges);
            PERFORM pg_notify('ferry_work', '');
            RETURN dropped;
        END $$
        """

    /// Once in a minute for the whole fleet, drops one part of a list all of whose files are complete, as nothing of it is
    /// read again, and forgets workers that have been silent for a day. Waits for no one.
    private static let tidy = """
        CREATE FUNCTION ferry.tidy() RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            part record;
        BEGIN
            PERFORM 1 FROM ferry.upkeep u WHERE u.tidied < clock_timestamp() - interval '1 minute'
                FOR UPDATE SKIP LOCKED;
            IF NOT FOUND THEN RETURN; END IF;
            UPDATE ferry.upkeep SET tidied = clock_timestamp();
            DELETE FROM ferry.worker w WHERE w.until < clock_timestamp() - interval '1 day' AND w.key <> 'nobody'
                AND NOT EXISTS (SELECT 1 FROM ferry.lease l WHERE l.worker = w.id);
            SELECT b.id, (d.first - 1) / b.part_rows AS number INTO part
                FROM ferry.batch b JOIN ferry.done d ON d.batch = b.id
                WHERE b.state IN ('open', 'draining')
                    AND to_regclass(format('ferry.entry_%s_%s', b.id, (d.first - 1) / b.part_rows)) IS NOT NULL
                GROUP BY b.id, b.part_rows, b.total, (d.first - 1) / b.part_rows
                HAVING sum(d.failed) = 0 AND sum(d.completed) =
                    least(b.part_rows, b.total - (d.first - 1) / b.part_rows * b.part_rows)
                LIMIT 1;
            IF NOT FOUND THEN RETURN; END IF;
            PERFORM set_config('lock_timeout', '200ms', true);
            BEGIN
                EXECUTE format('DROP TABLE IF EXISTS ferry.entry_%s_%s', part.id, part.number);
            EXCEPTION WHEN lock_not_available THEN
                RETURN;
            END;
        END $$
        """

    private static let remove = """
        CREATE FUNCTION ferry.remove(which integer) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            part text;
        BEGIN
            FOR part IN SELECT c.oid::regclass::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                WHERE i.inhparent IN ('ferry.entry'::regclass, 'ferry.result'::regclass)
                    AND c.relname ~ ('^(entry|result)_' || which || '_') LOOP
                EXECUTE 'DROP TABLE ' || part;
            END LOOP;
            EXECUTE format('DROP SEQUENCE IF EXISTS ferry.next_%s', which);
            DELETE FROM ferry.lease l WHERE l.batch = which;
            DELETE FROM ferry.done d WHERE d.batch = which;
            DELETE FROM ferry.batch b WHERE b.id = which;
        END $$
        """
}
