extension FleetSchema {
    /// Batches and their rows. A row is written once and never updated; its number, from 1, is part of the name of its file.
    static let lists = Migration(
        name: "lists",
        statements: [
            """
            CREATE TABLE ferry.batch (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text NOT NULL CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
                directory text NOT NULL CHECK (octet_length(directory) <= 2048),
                state text NOT NULL CHECK (state IN ('adding', 'open', 'paused', 'draining', 'removing')),
                total bigint NOT NULL DEFAULT 0,
                part_rows bigint NOT NULL CHECK (part_rows > 0 AND part_rows % 500 = 0),
                priority integer NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1000 AND 1000),
                added timestamptz NOT NULL DEFAULT now())
            """,
            "CREATE UNIQUE INDEX batch_name ON ferry.batch (name)",
            """
            CREATE TABLE ferry.entry (
                batch integer NOT NULL,
                number bigint NOT NULL CHECK (number > 0),
                urls text NOT NULL CHECK (octet_length(urls) <= 65536),
                checksum text CHECK (octet_length(checksum) <= 256)) PARTITION BY RANGE (batch, number)
            """,
            addPart, closePart, openPart, parts, pendingParts,
        ])

    /// Creates the table of a part, which is not visible before ferry.open_part, so a list that is not read to its end leaves no
    /// partition. The table has the partition's constraint as a check, so that its rows are not scanned again when it is attached.
    private static let addPart = """
        CREATE FUNCTION ferry.add_part(batch integer, part bigint, part_rows bigint) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            EXECUTE format('CREATE TABLE ferry.entry_%s_%s (LIKE ferry.entry INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
                CONSTRAINT part CHECK (batch = %s AND number >= %s AND number < %s))',
                batch, part, batch, part * part_rows + 1, (part + 1) * part_rows + 1);
        END $$
        """

    private static let closePart = """
        CREATE FUNCTION ferry.close_part(batch integer, part bigint) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            EXECUTE format('CREATE INDEX ON ferry.entry_%s_%s USING brin (number) WITH (pages_per_range = 8)',
                batch, part);
            EXECUTE format('ANALYZE ferry.entry_%s_%s', batch, part);
        END $$
        """

    /// Attaches a part to the list and to the results. ATTACH PARTITION does not block readers and writers of the other partitions,
    /// as CREATE TABLE … PARTITION OF would.
    private static let openPart = """
        CREATE FUNCTION ferry.open_part(batch integer, part bigint, part_rows bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            low bigint := part * part_rows + 1;
            high bigint := (part + 1) * part_rows + 1;
        BEGIN
            EXECUTE format('CREATE TABLE ferry.result_%s_%s (LIKE ferry.result INCLUDING ALL)', batch, part);
            EXECUTE format('ALTER TABLE ferry.entry ATTACH PARTITION ferry.entry_%s_%s
                FOR VALUES FROM (%s, %s) TO (%s, %s)', batch, part, batch, low, batch, high);
            EXECUTE format('ALTER TABLE ferry.result ATTACH PARTITION ferry.result_%s_%s
                FOR VALUES FROM (%s, %s) TO (%s, %s)', batch, part, batch, low, batch, high);
        END $$
        """

    /// Returns the tables of a batch's parts, with the table of which each is a partition (`parent`).
    private static let parts = """
        CREATE FUNCTION ferry.parts(which integer) RETURNS TABLE (name text, parent text) LANGUAGE sql STABLE AS $$
            SELECT c.relname::text, p.relname::text
            FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
            WHERE c.relnamespace = 'ferry'::regnamespace AND c.relkind = 'r'
                AND c.relname ~ ('^(entry|result)_' || which || '_[0-9]+$')
            ORDER BY c.relname
        $$
        """

    /// Returns the parts of all batches whose DETACH was interrupted. Before PostgreSQL 14, the column does not exist, and DETACH
    /// leaves no such part.
    private static let pendingParts = """
        CREATE FUNCTION ferry.pending_parts() RETURNS TABLE (name text, parent text) LANGUAGE sql STABLE AS $$
            SELECT c.relname::text, p.relname::text
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
            WHERE p.relnamespace = 'ferry'::regnamespace AND (to_jsonb(i)->>'inhdetachpending')::boolean
        $$
        """
}
