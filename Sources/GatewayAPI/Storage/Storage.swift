/// What a camera's storage is: its recordings, as the SDK's cloud storage names them. Times are s since 1970.
public struct StorageDetail: Codable, Hashable, Sendable {
    /// 1: it is recorded. 2: it is not recorded any more, and there are recordings. 3: there is none.
    public var status: Int
    /// The beginning of the first recording; 0 without one.
    public var startTime: Int64
    /// The end of the last recording of a camera that is not recorded any more; otherwise 0.
    public var endTime: Int64
    /// 1: around the clock. 2: events.
    public var curOrderPkgType: Int
    /// After how many days recordings are removed; 0: only when space is needed.
    public var curOrderStorageDays: Int
    public var curOrderStartTime: Int64
    public var curOrderEndTime: Int64
    /// The beginning of what can be played, as the SDK's table has it.
    public var playbackStartTime: Int64
    /// For how many days it can be played, as the SDK's example has it.
    public var playbackDays: Int
    /// Of a camera of another box: when that box told the hub all this.
    public var asOf: Int64?

    public init(status: Int, start: Int64, end: Int64, days: Int) {
        self.status = status
        startTime = start
        endTime = end
        curOrderPkgType = 1
        curOrderStorageDays = days
        curOrderStartTime = start
        curOrderEndTime = end
        playbackStartTime = start
        playbackDays = days
    }
}

/// The days with recordings.
public struct StorageDays: Codable, Hashable, Sendable {
    /// Their beginnings, s since 1970.
    public var list: [Int64]
    /// Present while the camera's box is offline: when that box told the hub of them, s since 1970.
    public var asOf: Int64?

    public init(list: [Int64]) {
        self.list = list
    }
}

/// The times with recordings, for a time line.
public struct StoragePlayList: Codable, Hashable, Sendable {
    /// s since 1970.
    public struct Item: Codable, Hashable, Sendable {
        public var start: Int64
        public var end: Int64

        public init(start: Int64, end: Int64) {
            self.start = start
            self.end = end
        }
    }

    public var list: [Item]
    /// As `StorageDays.asOf`.
    public var asOf: Int64?

    public init(list: [Item]) {
        self.list = list
    }
}

/// Where a player finds recordings.
public struct StorageAddress: Codable, Hashable, Sendable {
    /// At the address of this API. It holds a media key for this device, and nothing but its recordings.
    public var url: String
    /// Where it begins and ends, s since 1970.
    public var startTime: Int64
    public var endTime: Int64
    /// Whether it reaches to the wanted end. Otherwise ask again from `endTime` on.
    public var endflag: Bool

    public init(url: String, startTime: Int64, endTime: Int64, endflag: Bool) {
        self.url = url
        self.startTime = startTime
        self.endTime = endTime
        self.endflag = endflag
    }
}
