#if PostgreSQL
import Handshake

/// The texts of the statements, which differ in the schema's name alone.
struct PostgresTexts: Sendable {
    let acquire, read, readAll, replace, remove, renew, want, look, release, releaseSilently, state, sweep: PostgresText
    let claim, watch, claimed, giveBack: PostgresText
    let labels, names, lastKey, makeOld, stopWriters, retire: PostgresText

    init(_ schema: PostgresSchema) {
        let (lease, record, key) = (schema.table("lease"), schema.table("record"), schema.table("key"))
        func text(_ name: String, _ sql: String) -> PostgresText { PostgresText(name: "handshake_\(name)", sql: sql) }
        // What was changed by hand may have the largest number.
        func next(_ column: String) -> String {
            "CASE WHEN \(column) < \(Int64.max) THEN \(column) + 1 ELSE 1 END"
        }
        let end = "pg_catalog.clock_timestamp() + %@ * interval '1 millisecond'"
        func until(_ parameter: String) -> String { end.replacing("%@", with: parameter) }
        // A request takes up to 20 s.
        let unfinished = "pg_catalog.clock_timestamp() + interval '30 s'"
        let unsynchronized = "pg_catalog.set_config('synchronous_commit', 'off', true) = 'off'"
        // What was changed by hand may be of any size.
        func bounded(_ column: String, _ limit: Int) -> String {
            "CASE WHEN pg_catalog.octet_length(\(column)) <= \(limit) THEN \(column) END"
        }
        let kind = "pg_catalog.left(r.kind, 64)"
        let label = bounded("r.label", RecordSeal.sealedLimit - RecordSeal.contentsLimit)
        let body = bounded("r.body", RecordSeal.sealedLimit)
        acquire = text(
            "acquire",
            """
            INSERT INTO \(lease) AS l (name, holder, fence, beat, until, taken, wanted, version)
            VALUES ($1, $2, 1, 1, \(until("$3")), false, 0, 0) ON CONFLICT (name) DO UPDATE SET
              fence = CASE WHEN l.holder = excluded.holder THEN l.fence ELSE \(next("l.fence")) END,
              taken = CASE WHEN l.holder = excluded.holder THEN l.taken ELSE l.holder IS NOT NULL END,
              holder = excluded.holder, beat = \(next("l.beat")), until = \(until("$3"))
            WHERE (l.holder IS NULL OR l.holder = excluded.holder OR l.holder = $4
                OR (l.holder = $5 AND l.fence = $6 AND l.beat = $7 AND (l.until <= pg_catalog.clock_timestamp() OR $8)))
              AND \(unsynchronized) RETURNING fence, version, taken
            """)
        read = text(
            "read",
            """
            SELECT \(kind), r.key, r.version, \(body), l.version FROM (SELECT $1::uuid AS name) n
            LEFT JOIN \(lease) l ON l.name = n.name LEFT JOIN \(record) r ON r.name = n.name
            """)
        // The lease of each row by its index, as in `labels`.
        let leased = "(SELECT l.version FROM \(lease) l WHERE l.name = r.name)"
        readAll = text(
            "readAll",
            "SELECT \(kind), r.key, r.version, \(body), \(leased), r.name FROM \(record) r WHERE r.name = ANY ($1)")
        let held = """
            name = $1 AND holder = $2 AND fence = $3 AND version = $4
            """
        // A lease that is waited for is released afterwards: a commit that notifies keeps all others of the database that notify waiting, and this
        // one waits for the storage.
        let concludes = "$13 AND wanted <> fence"
        replace = text(
            "replace",
            """
            WITH held AS (UPDATE \(lease) SET version = $8, beat = \(next("beat")), until = \(until("$5")),
                holder = CASE WHEN \(concludes) THEN NULL ELSE holder END, taken = taken AND NOT (\(concludes)),
                lane = CASE WHEN $12 THEN 0 ELSE lane END, due_at = CASE WHEN $12 THEN \(unfinished)
                  WHEN $12 IS NULL THEN due_at END
              WHERE \(held) AND EXISTS (SELECT 1 FROM \(key) k WHERE k.id = $7
                AND (k.state = 'active' OR ($11 AND k.state = 'old')))
              RETURNING name, version, holder IS NULL AS is_released)
            INSERT INTO \(record) AS r (name, kind, key, version, label, body) SELECT name, $6, $7, $8, $9, $10 FROM held
            ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, key = excluded.key, version = excluded.version,
              label = excluded.label, body = excluded.body RETURNING version, (SELECT is_released FROM held)
            """)
        remove = text(
            "remove",
            """
            WITH held AS (UPDATE \(lease) SET version = $6, beat = \(next("beat")), lane = NULL, due_at = NULL,
                until = \(until("$5")) WHERE \(held) RETURNING name, version),
              gone AS (DELETE FROM \(record) r USING held WHERE r.name = held.name RETURNING r.name)
            SELECT held.version, (SELECT count(*) FROM gone) FROM held
            """)
        renew = text(
            "renew",
            """
            UPDATE \(lease) l SET beat = \(next("beat")), until = \(until("$4"))
            FROM unnest($1, $2, $3) AS m (name, holder, fence)
            WHERE l.name = m.name AND l.holder = m.holder AND l.fence = m.fence RETURNING l.holder
            """)
        want = text(
            "want",
            """
            UPDATE \(lease) SET wanted = fence WHERE name = $1 AND holder IS NOT NULL AND wanted <> fence AND \(unsynchronized)
            """)
        look = text("look", "SELECT holder, fence, beat FROM \(lease) WHERE name = $1")
        let freeing = """
            UPDATE \(lease) SET holder = NULL, taken = false
            WHERE name = $1 AND holder = $2 AND fence = $3 AND \(unsynchronized)
            """
        release = text(
            "release",
            """
            WITH freed AS (\(freeing) RETURNING name, fence, wanted)
            SELECT pg_catalog.pg_notify('handshake', name::text) FROM freed WHERE wanted = fence
            """)
        releaseSilently = text("releaseSilently", freeing)
        state = text(
            "state",
            """
            SELECT l.holder, l.fence, l.version, \(body), (SELECT min(k.id) FROM \(key) k WHERE k.state = 'active')
            FROM \(lease) l LEFT JOIN \(record) r ON r.name = l.name WHERE l.name = $1
            """)
        // An index for it would cost every update. So each call looks at a few names of the primary key: an array is a list of rows to fetch,
        // where a join may read the whole table.
        sweep = text(
            "sweep",
            """
            DELETE FROM \(lease) WHERE name = ANY (ARRAY(SELECT l.name
                FROM (SELECT name, holder, due_at, until FROM \(lease) WHERE name > $1 ORDER BY name LIMIT 4096) l
                WHERE l.holder IS NULL AND l.due_at IS NULL AND l.until < pg_catalog.clock_timestamp() - interval '30 days'
                  AND NOT EXISTS (SELECT 1 FROM \(record) r WHERE r.name = l.name)))
              AND holder IS NULL AND until < pg_catalog.clock_timestamp() - interval '30 days'
            """)
        // The server plans a prepared statement for any value of its parameters. Then a page must be found by its index alone, and the lease of
        // each of its rows by another: with “$2 IS NULL OR name > $2”, or in a join, each page may read the whole table.
        let page = """
            name >= COALESCE($2::uuid, '00000000-0000-0000-0000-000000000000') AND name IS DISTINCT FROM $2
            ORDER BY name LIMIT \(PostgresStore.pageSize)
            """
        labels = text(
            "labels",
            """
            SELECT r.name, r.key, r.version, \(label), \(leased)
            FROM \(record) r WHERE kind = $1 AND \(page)
            """)
        func isUnfinished(by time: String) -> String {
            """
            l.lane = 0 AND l.due_at <= \(time) AND NOT l.name = ANY ($2)
                AND EXISTS (SELECT 1 FROM \(record) r WHERE r.name = l.name AND r.kind = $1)
            """
        }
        // While a service may still forgive a repeat, the caller that gets a record may have died too.
        claim = text(
            "claim",
            """
            WITH due AS (SELECT l.name FROM \(lease) l WHERE \(isUnfinished(by: "pg_catalog.statement_timestamp()"))
                AND (l.holder IS NULL OR (l.name = ANY ($3) AND l.until <= pg_catalog.clock_timestamp()) OR l.name = ANY ($4))
              ORDER BY l.due_at LIMIT \(PostgresStore.claimSize) FOR UPDATE OF l SKIP LOCKED)
            UPDATE \(lease) l SET due_at = CASE
                WHEN l.holder IS NOT NULL AND l.until > pg_catalog.clock_timestamp() - interval '20 s'
                  THEN pg_catalog.clock_timestamp() + interval '5 s'
                ELSE \(unfinished) + pg_catalog.random() * interval '10 s' END
            FROM due WHERE l.name = due.name RETURNING l.name
            """)
        watch = text(
            "watch",
            """
            SELECT l.name, l.holder, l.fence, l.beat FROM \(lease) l
            WHERE \(isUnfinished(by: "pg_catalog.statement_timestamp() + interval '10 s'")) AND l.holder IS NOT NULL
            ORDER BY l.due_at LIMIT \(PostgresStore.pageSize)
            """)
        claimed = text(
            "claimed",
            """
            SELECT r.name, r.key, r.version, \(label), l.version
            FROM \(record) r LEFT JOIN \(lease) l ON l.name = r.name WHERE r.name = ANY ($1)
            """)
        giveBack = text(
            "giveBack",
            """
            WITH given AS (SELECT name FROM \(lease) WHERE name = ANY ($1) AND due_at > pg_catalog.clock_timestamp()
              ORDER BY name FOR UPDATE SKIP LOCKED)
            UPDATE \(lease) l SET due_at = pg_catalog.clock_timestamp() FROM given WHERE l.name = given.name
            """)
        names = text("names", "SELECT name, key FROM \(record) WHERE \(page.replacing("$2", with: "$1"))")
        lastKey = text("lastKey", "SELECT max(id) FROM \(key)")
        makeOld = text("makeOld", "UPDATE \(key) SET state = 'old' WHERE state = 'active' AND id = $1 RETURNING id")
        stopWriters = text("stopWriters", "LOCK TABLE \(record) IN SHARE MODE")
        retire = text(
            "retire",
            """
            UPDATE \(key) k SET state = 'retired'
            WHERE k.state = 'old' AND NOT EXISTS (SELECT 1 FROM \(record) r WHERE r.key = k.id) RETURNING k.id
            """)
    }
}
#endif
