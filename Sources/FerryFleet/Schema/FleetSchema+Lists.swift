extension FleetSchema {
    /// Batches and their rows. A row is written once and never updated; its number, from 1, decides the name of its file.
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
            // A lease that was taken and never stored leaves a gap in the sequence, which ferry.claim finds.
            """
            CREATE FUNCTION ferry.add_part(batch integer, part bigint, part_rows bigint) RETURNS void LANGUAGE plpgsql AS $$
            DECLARE
                low bigint := part * part_rows + 1;
                high bigint := (part + 1) * part_rows + 1;
            BEGIN
                EXECUTE format('CREATE TABLE IF NOT EXISTS ferry.entry_%s_%s PARTITION OF ferry.entry
                    FOR VALUES FROM (%s, %s) TO (%s, %s)', batch, part, batch, low, batch, high);
                EXECUTE format('CREATE TABLE IF NOT EXISTS ferry.result_%s_%s PARTITION OF ferry.result
                    FOR VALUES FROM (%s, %s) TO (%s, %s)', batch, part, batch, low, batch, high);
            END $$
            """,
            """
            CREATE FUNCTION ferry.close_part(batch integer, part bigint) RETURNS void LANGUAGE plpgsql AS $$
            BEGIN
                EXECUTE format('CREATE INDEX ON ferry.entry_%s_%s USING brin (number) WITH (pages_per_range = 8)',
                    batch, part);
                EXECUTE format('ANALYZE ferry.entry_%s_%s', batch, part);
            END $$
            """,
        ])
}
