extension FleetSchema {
    /// The budgets of hosts, and the shares that workers have taken.
    ///
    /// A worker takes a host's starts for the next few seconds in one update (generic cell rate algorithm), which moves the time of
    /// the next free start by as many intervals. Nothing is written for a single file.
    static let hosts = Migration(
        name: "hosts",
        statements: [
            """
            CREATE TABLE ferry.host (
                name text PRIMARY KEY CHECK (octet_length(name) <= 255),
                rate double precision CHECK (rate > 0),
                connections integer CHECK (connections > 0))
            """,
            """
            CREATE TABLE ferry.pace (
                host text PRIMARY KEY CHECK (octet_length(host) <= 255),
                next timestamptz NOT NULL) WITH (fillfactor = 50)
            """,
            """
            CREATE TABLE ferry.share (
                host text NOT NULL,
                worker bigint NOT NULL,
                connections integer NOT NULL,
                PRIMARY KEY (host, worker)) WITH (fillfactor = 50)
            """,
            reserve, hold, release,
        ])

    /// Grants a worker starts and connections of hosts. `budgets` names the budget of each host, `wanted` is the number of starts,
    /// and `running` the number of running files. Starts are 1.5 / rate apart because a request may be half a second late
    /// (``StartGate``), so no second has more than `rate` requests.
    private static let reserve = """
        CREATE FUNCTION ferry.reserve(me bigint, hosts text[], budgets text[], wanted integer[], running integer[])
            RETURNS TABLE (host text, connections integer, starts integer, first double precision, apart double precision,
                now_is double precision) LANGUAGE plpgsql \(definer) AS $$
        DECLARE
            one record;
            free_from timestamptz;
            others bigint;
            gap interval;
        BEGIN
            FOR one IN SELECT a.host, a.wanted, a.running, h.rate, h.connections
                FROM unnest(hosts, budgets, wanted, running) AS a (host, budget, wanted, running)
                JOIN ferry.host h ON h.name = a.budget ORDER BY a.host LOOP
                INSERT INTO ferry.pace (host, next) VALUES (one.host, clock_timestamp()) ON CONFLICT DO NOTHING;
                SELECT p.next INTO free_from FROM ferry.pace p WHERE p.host = one.host FOR UPDATE;
                connections := NULL;
                IF one.connections IS NOT NULL THEN
                    SELECT coalesce(sum(s.connections), 0) INTO others FROM ferry.share s JOIN ferry.worker w
                        ON w.id = s.worker WHERE s.host = one.host AND s.worker <> me AND w.until > clock_timestamp();
                    connections := greatest(one.running,
                        least(one.running + one.wanted, one.connections - others))::integer;
                    IF connections > 0 THEN
                        INSERT INTO ferry.share (host, worker, connections) VALUES (one.host, me, reserve.connections)
                            ON CONFLICT ON CONSTRAINT share_pkey DO UPDATE SET connections = excluded.connections
                            WHERE share.connections <> excluded.connections;
                    ELSE
                        DELETE FROM ferry.share s WHERE s.host = one.host AND s.worker = me;
                    END IF;
                END IF;
                free_from := greatest(free_from, clock_timestamp());
                gap := NULL;
                starts := one.wanted;
                IF one.rate IS NOT NULL THEN
                    gap := make_interval(secs => 1.5 / one.rate);
                    starts := greatest(0, least(one.wanted, ceil(extract(epoch FROM clock_timestamp()
                        + interval '3 seconds' - free_from) / (1.5 / one.rate))))::integer;
                    IF connections IS NOT NULL AND connections <= 0 THEN starts := 0; END IF;
                    IF starts > 0 THEN
                        UPDATE ferry.pace p SET next = free_from + gap * reserve.starts WHERE p.host = one.host;
                    END IF;
                ELSIF free_from > clock_timestamp() + interval '0.1 seconds' THEN
                    starts := 0;
                END IF;
                host := one.host;
                first := extract(epoch FROM free_from);
                apart := extract(epoch FROM gap);
                now_is := extract(epoch FROM clock_timestamp());
                RETURN NEXT;
            END LOOP;
        END $$
        """

    /// Prevents all workers from starting files of a host for some time, because its server has sent Retry-After.
    private static let hold = """
        CREATE FUNCTION ferry.hold(which text, lasting interval) RETURNS void LANGUAGE sql \(definer) AS $$
            INSERT INTO ferry.pace (host, next) VALUES (which, clock_timestamp() + lasting)
            ON CONFLICT (host) DO UPDATE SET next = greatest(ferry.pace.next, excluded.next)
        $$
        """

    /// Releases a worker's connections to hosts from which it downloads no file.
    private static let release = """
        CREATE FUNCTION ferry.release(me bigint, hosts text[]) RETURNS void LANGUAGE sql \(definer) AS $$
            DELETE FROM ferry.share s WHERE s.worker = me AND s.host = ANY (hosts)
        $$
        """
}
