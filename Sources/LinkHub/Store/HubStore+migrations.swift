import GRDB

extension HubStore {
    /// The schema's history. A published migration is never edited: the next change is a new one.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE users (
                        id TEXT PRIMARY KEY NOT NULL,
                        created_at INTEGER NOT NULL          -- ms since 1970, as all times but tokens'
                    ) WITHOUT ROWID;
                    CREATE TABLE devices (
                        id TEXT PRIMARY KEY NOT NULL,
                        name TEXT NOT NULL UNIQUE,
                        presence_since INTEGER              -- NULL until it first comes
                    ) WITHOUT ROWID;
                    CREATE TABLE bindings (
                        user TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
                        device TEXT NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
                        role TEXT NOT NULL,
                        PRIMARY KEY (user, device)
                    ) WITHOUT ROWID;
                    CREATE TABLE tokens (
                        id TEXT PRIMARY KEY NOT NULL,
                        principal TEXT NOT NULL,
                        hash TEXT NOT NULL,
                        salt TEXT NOT NULL,
                        issued INTEGER NOT NULL,             -- s since 1970
                        expires INTEGER NOT NULL,            -- s since 1970
                        is_local INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE TABLE models (
                        device TEXT PRIMARY KEY NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
                        schema TEXT NOT NULL,                -- the vendor's form, JSON
                        version INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE TABLE properties (
                        device TEXT NOT NULL REFERENCES models(device) ON DELETE CASCADE,
                        path TEXT NOT NULL,                  -- Class.Object
                        value TEXT NOT NULL,                 -- the whole object, JSON
                        version INTEGER NOT NULL,
                        applied INTEGER,                     -- the version that the device carries out
                        PRIMARY KEY (device, path)
                    ) WITHOUT ROWID;
                    -- Appended in the order of time; found through the hub's memory, so it needs no second index.
                    CREATE TABLE answers (
                        number INTEGER PRIMARY KEY NOT NULL,
                        principal TEXT NOT NULL,
                        request TEXT NOT NULL,
                        answered_at INTEGER NOT NULL,
                        reply BLOB NOT NULL
                    );
                    """)
        }
        return migrator
    }
}
