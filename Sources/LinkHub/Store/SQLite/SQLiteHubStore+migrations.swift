import GRDB

extension SQLiteHubStore {
    /// The schema's history. A published migration is never edited: a change is a new migration.
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
        migrator.registerMigration("2", migrate: migrateToAccounts)
        migrator.registerMigration("3") { database in
            // The request's content as 64 bits: an answer is repeated only for the same request.
            try database.execute(sql: "ALTER TABLE answers ADD COLUMN content INTEGER")
        }
        migrator.registerMigration("answers and events in bytes", migrate: migrateToBytes)
        migrator.registerMigration("rows set aside") { database in
            try database.execute(
                sql: """
                    CREATE TABLE set_aside (
                        number INTEGER PRIMARY KEY NOT NULL,
                        source TEXT NOT NULL,                 -- the table
                        key TEXT NOT NULL,                    -- of its primary key, as SQL
                        content TEXT NOT NULL,                -- the statement that would put the row back
                        reason TEXT NOT NULL,
                        since INTEGER NOT NULL
                    )
                    """)
        }
        migrator.registerMigration("devices of cameras", migrate: migrateToDevicesOfCameras)
        migrator.registerMigration("ends of tokens") { database in
            try database.execute(
                sql: """
                    ALTER TABLE devices ADD COLUMN shares_ended INTEGER NOT NULL DEFAULT 0;   -- s since 1970
                    ALTER TABLE tokens ADD COLUMN parent TEXT;       -- the API token that it was made with
                    ALTER TABLE enrolments ADD COLUMN parent TEXT;
                    """)
        }
        migrator.registerMigration("media keys") { database in
            try database.execute(
                sql: """
                    CREATE TABLE media_keys (
                        id TEXT PRIMARY KEY NOT NULL,
                        name TEXT NOT NULL,
                        principal TEXT NOT NULL,
                        devices TEXT,                        -- JSON; NULL for all of the account's
                        actions TEXT NOT NULL,               -- JSON
                        ha1_md5 TEXT NOT NULL,               -- RFC 7616 §3.4.2; the key itself is not kept
                        ha1_sha256 TEXT NOT NULL,
                        issued INTEGER NOT NULL,             -- s since 1970, as all times here
                        expires INTEGER NOT NULL,
                        parent TEXT,                         -- the API token that it was made with
                        last_use INTEGER
                    ) WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("names of tokens") { database in
            try database.execute(
                sql: """
                    ALTER TABLE tokens ADD COLUMN name TEXT;
                    ALTER TABLE tokens ADD COLUMN last_use INTEGER;           -- an API token's: s since 1970
                    """)
        }
        migrator.registerMigration("provisioning") { database in
            try database.execute(
                sql: """
                    ALTER TABLE enrolments ADD COLUMN provisioning TEXT;      -- NULL for a box that joins
                    ALTER TABLE devices ADD COLUMN provisioned_with TEXT;     -- the provisioning token's id
                    ALTER TABLE devices ADD COLUMN is_announced INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("accounts for one call") { database in
            // NULL without this limit; 0 before the call, 1 from then on.
            try database.execute(sql: "ALTER TABLE users ADD COLUMN one_call INTEGER")
        }
        migrator.registerMigration("owners of devices") { database in
            try database.execute(sql: "ALTER TABLE devices ADD COLUMN owners INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("ends of grants") { database in
            // s since 1970
            try database.execute(sql: "ALTER TABLE devices ADD COLUMN grants_ended INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("releases of firmware") { database in
            try database.execute(
                sql: """
                    CREATE TABLE firmware_releases (
                        id TEXT PRIMARY KEY NOT NULL,
                        manifest BLOB NOT NULL,              -- the signed bytes
                        signature BLOB NOT NULL,
                        added INTEGER NOT NULL,              -- s since 1970
                        is_complete INTEGER NOT NULL         -- whether the file firmware/ID is the manifest's
                    ) WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("recordings") { database in
            try database.execute(
                sql: """
                    CREATE TABLE recordings (
                        device TEXT PRIMARY KEY NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
                        ownership INTEGER NOT NULL,          -- for which owner of the device
                        summary TEXT NOT NULL                -- of recording.report
                    ) WITHOUT ROWID
                    """)
        }
        return migrator
    }

    /// The principal that an answer counts for, and the size of each device's events.
    private static func migrateToBytes(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE answers ADD COLUMN actor TEXT;    -- in whose name it was asked; NULL for the principal

                -- Kept by SQLite itself, also when the events go with their device.
                CREATE TABLE event_sizes (
                    device TEXT PRIMARY KEY NOT NULL,
                    count INTEGER NOT NULL,
                    bytes INTEGER NOT NULL                -- of bodies
                ) WITHOUT ROWID;
                INSERT INTO event_sizes
                    SELECT device, count(*), sum(length(CAST(body AS BLOB))) FROM events GROUP BY device;
                CREATE TRIGGER event_added AFTER INSERT ON events BEGIN
                    INSERT INTO event_sizes VALUES (new.device, 1, length(CAST(new.body AS BLOB)))
                    ON CONFLICT (device) DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
                END;
                CREATE TRIGGER event_removed AFTER DELETE ON events BEGIN
                    UPDATE event_sizes SET count = count - 1, bytes = bytes - length(CAST(old.body AS BLOB))
                    WHERE device = old.device;
                    DELETE FROM event_sizes WHERE device = old.device AND count <= 0;
                END;
                """)
    }

    /// Identifies the device of one of this daemon's cameras by the camera, no longer by the device's name.
    ///
    /// Such a device has a local token. But earlier versions also gave one to any other device that was renamed to a
    /// camera's name. So a member's device that has tokens of its own is not taken for a camera's device.
    private static func migrateToDevicesOfCameras(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE devices ADD COLUMN camera TEXT;               -- the name of the camera, not of the device
                UPDATE devices SET camera = name WHERE EXISTS (
                    SELECT 1 FROM tokens WHERE principal = 'd/' || devices.id AND is_local = 1
                ) AND NOT (
                    EXISTS (SELECT 1 FROM tokens WHERE principal = 'd/' || devices.id AND is_local = 0)
                    AND EXISTS (
                        SELECT 1 FROM bindings JOIN users ON users.id = bindings.user
                        WHERE bindings.device = devices.id AND role = 'owner' AND kind <> 'administrator')
                );
                CREATE UNIQUE INDEX device_of_camera ON devices(camera) WHERE camera IS NOT NULL;

                -- What the devices of an enrolment were called when it was made: JSON, name by device id.
                ALTER TABLE enrolments ADD COLUMN names TEXT NOT NULL DEFAULT '{}';
                """)
    }

    /// Adds kinds of accounts and tokens, exact rights of bindings, enrolments, registrations and calls that outlive a
    /// restart, and events.
    private static func migrateToAccounts(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'member';
                ALTER TABLE users ADD COLUMN device TEXT;                 -- a temporary account's
                ALTER TABLE users ADD COLUMN expires INTEGER;             -- s since 1970

                ALTER TABLE bindings ADD COLUMN actions TEXT NOT NULL DEFAULT '["view"]';
                ALTER TABLE bindings ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
                UPDATE bindings SET actions = '["view","talk","playback","control","configure"]'
                    WHERE role = 'owner';
                -- A device has one owner; others keep what they could do.
                UPDATE bindings SET role = 'guest' WHERE role = 'owner' AND user <> (
                    SELECT first.user FROM bindings AS first JOIN users ON users.id = first.user
                    WHERE first.device = bindings.device AND first.role = 'owner'
                    ORDER BY users.created_at, users.id LIMIT 1);
                CREATE UNIQUE INDEX owner_of_device ON bindings(device) WHERE role = 'owner';
                CREATE INDEX bindings_of_device ON bindings(device);

                ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'link';
                ALTER TABLE tokens ADD COLUMN devices TEXT;               -- an API token's scope, JSON; NULL for all
                ALTER TABLE tokens ADD COLUMN actions TEXT;

                CREATE TABLE enrolments (
                    id TEXT PRIMARY KEY NOT NULL,
                    hash TEXT NOT NULL,
                    salt TEXT NOT NULL,
                    creator TEXT NOT NULL,
                    user TEXT,
                    devices TEXT NOT NULL,                -- JSON
                    issued INTEGER NOT NULL,              -- s since 1970
                    expires INTEGER NOT NULL              -- s since 1970
                ) WITHOUT ROWID;
                CREATE TABLE registrations (
                    principal TEXT PRIMARY KEY NOT NULL,
                    session TEXT NOT NULL,                -- the newest
                    superseded TEXT NOT NULL              -- those before it, JSON
                ) WITHOUT ROWID;
                CREATE TABLE calls (
                    device TEXT NOT NULL,
                    session TEXT NOT NULL,                -- the call's, not the link's
                    user TEXT NOT NULL,
                    asker TEXT NOT NULL,
                    asker_session TEXT NOT NULL,
                    needs TEXT NOT NULL,                  -- actions, JSON
                    opened_at INTEGER NOT NULL,
                    ending INTEGER NOT NULL,              -- who is yet to hear of its end: 1 the user, 2 the device
                    PRIMARY KEY (device, session)
                ) WITHOUT ROWID;

                CREATE TABLE events (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,   -- never given twice, not even of a deleted event
                    device TEXT NOT NULL REFERENCES devices(id) ON DELETE CASCADE,
                    topic TEXT NOT NULL,
                    t INTEGER NOT NULL,
                    body TEXT NOT NULL                          -- last, so that searching need not read over it
                );
                CREATE INDEX events_of_device ON events(device, number);
                """)
    }
}
