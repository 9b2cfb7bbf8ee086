import GRDB

extension RecordingIndex {
    /// The schema's history. A published migration is never edited: a change is a new migration.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(sql: first)
        }
        migrator.registerMigration("2") { database in
            try database.execute(
                sql: """
                    ALTER TABLE camera ADD COLUMN ownership INTEGER;   -- the owner's number; NULL until it is known
                    -- The first segment that the owner may see.
                    ALTER TABLE camera ADD COLUMN first_visible INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("3") { database in
            // The recording plan as JSON; NULL until one was stored.
            try database.execute(sql: "ALTER TABLE camera ADD COLUMN plan TEXT")
        }
        migrator.registerMigration("4") { database in
            try database.execute(sql: timeline)
        }
        return migrator
    }

    /// What happened at the cameras (`TimelineEntry`).
    private static var timeline: String {
        """
        CREATE TABLE timeline_name (
            id INTEGER PRIMARY KEY NOT NULL,
            camera INTEGER NOT NULL,
            name TEXT NOT NULL,
            kind INTEGER NOT NULL,                   -- TimelineEntry.Kind
            UNIQUE (camera, name, kind)
        );
        CREATE TABLE timeline (
            id INTEGER PRIMARY KEY NOT NULL,
            camera INTEGER NOT NULL,
            time INTEGER NOT NULL,
            name INTEGER NOT NULL REFERENCES timeline_name(id),
            value TEXT NOT NULL                      -- JSON
        );
        CREATE INDEX timeline_by_time ON timeline (camera, time, id);
        CREATE INDEX timeline_by_name ON timeline (name, time, id);
        """
    }

    private static var first: String {
        """
        CREATE TABLE disk (
            id INTEGER PRIMARY KEY NOT NULL,
            uuid TEXT NOT NULL UNIQUE,               -- of the marker file
            path TEXT NOT NULL
        );
        CREATE TABLE camera (
            number INTEGER PRIMARY KEY NOT NULL CHECK (number > 0),
            name TEXT NOT NULL UNIQUE,
            next_segment INTEGER NOT NULL DEFAULT 1  -- a number is never used twice
        );
        CREATE TABLE run (
            id INTEGER PRIMARY KEY NOT NULL,         -- of its first segment
            boot TEXT NOT NULL,
            monotonic_start INTEGER NOT NULL,        -- µs
            wall_anchor INTEGER NOT NULL,            -- µs since 1970, as all times
            quality INTEGER NOT NULL,                -- ClockQuality
            end_reason INTEGER                       -- RunEnd; NULL while it lasts
        );
        CREATE INDEX run_to_correct ON run (boot) WHERE quality = 0;
        CREATE INDEX run_open ON run (id) WHERE end_reason IS NULL;
        CREATE TABLE sample_entry (
            id INTEGER PRIMARY KEY NOT NULL,
            bytes BLOB NOT NULL UNIQUE
        );
        CREATE TABLE segment (
            id INTEGER PRIMARY KEY NOT NULL,         -- camera << 32 | number
            camera INTEGER NOT NULL CHECK (camera = id >> 32),
            run INTEGER NOT NULL,
            disk INTEGER NOT NULL REFERENCES disk(id),
            sample_entry INTEGER NOT NULL REFERENCES sample_entry(id),
            start INTEGER NOT NULL,
            duration INTEGER NOT NULL CHECK (duration BETWEEN 0 AND \(SegmentLimits.duration)),
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            state INTEGER NOT NULL,                  -- SegmentState
            reason INTEGER NOT NULL,                 -- RecordingReason
            fragments BLOB NOT NULL                  -- FragmentList
        );
        -- Lists and days read only this index, never the rows with their fragments.
        CREATE INDEX segment_by_time ON segment (camera, start, duration, run, disk, bytes, state, reason);
        CREATE INDEX segment_to_remove ON segment (disk, camera, reason, start, duration, bytes) WHERE state <> 0;
        CREATE INDEX segment_open ON segment (disk) WHERE state = 0;
        CREATE TABLE hold (
            id INTEGER PRIMARY KEY NOT NULL,
            camera INTEGER NOT NULL,
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            note TEXT NOT NULL
        );
        CREATE INDEX hold_by_camera ON hold (camera, start);
        -- Files that are to be removed.
        CREATE TABLE garbage (
            segment INTEGER PRIMARY KEY NOT NULL,
            disk INTEGER NOT NULL
        );
        -- The sums of all segments, so that a start does not read them.
        CREATE TABLE usage (
            disk INTEGER NOT NULL,
            camera INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (disk, camera)
        ) WITHOUT ROWID;
        CREATE TRIGGER segment_added AFTER INSERT ON segment BEGIN
            INSERT OR IGNORE INTO usage (disk, camera, bytes) VALUES (new.disk, new.camera, 0);
            UPDATE usage SET bytes = bytes + new.bytes WHERE disk = new.disk AND camera = new.camera;
        END;
        CREATE TRIGGER segment_grown AFTER UPDATE OF bytes ON segment BEGIN
            UPDATE usage SET bytes = bytes + new.bytes - old.bytes WHERE disk = new.disk AND camera = new.camera;
        END;
        CREATE TRIGGER segment_removed AFTER DELETE ON segment BEGIN
            UPDATE usage SET bytes = bytes - old.bytes WHERE disk = old.disk AND camera = old.camera;
        END;
        """
    }
}
