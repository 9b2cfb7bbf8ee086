package import GatewayAPI
package import IoTCore
package import MediaChannel

/// The recordings of cameras. All times are ms since 1970.
package protocol GatewayRecordings: Sendable {
    func list(_ device: String, _ query: RecordedTimeQuery) async throws -> RecordingList
    func ranges(_ device: String, _ query: RecordedTimeQuery) async throws -> RecordedTimeList
    func days(_ device: String, in times: Range<Int64>, by division: DayDivision) async throws -> RecordedDayList

    /// Opens a recording to read it.
    func open(_ device: String, _ recording: String) async throws -> RangedFile

    /// The recordings of a time as one file, without the gaps.
    ///
    /// - Throws: 21032 if nothing was recorded; 21035 if the camera's picture or sound changed its form meanwhile.
    func clip(_ device: String, in times: Range<Int64>) async throws -> RangedFile

    /// The key frame at a time, or the last one before it, as a JPEG. Its time is in µs since 1970.
    ///
    /// - Throws: 21032 if no picture was recorded before.
    func picture(_ device: String, at time: Int64, _ bounds: PictureBounds?) async throws -> Picture

    /// The last key frame of each part of a time in which something was recorded, as JPEGs: as many as are made within the
    /// limits of one request.
    ///
    /// - Parameter length: of each part, ms.
    func pictures(
        _ device: String, in times: Range<Int64>, every length: Int64, _ bounds: PictureBounds?
    ) async throws -> RecordingThumbnails

    /// The recordings of a time for players that fetch parts.
    ///
    /// - Parameters:
    ///   - isOpen: whether what is recorded later belongs to it.
    ///   - query: what each address of the playlist ends with.
    /// - Throws: 21032 if nothing was recorded.
    func playlist(_ device: String, in times: Range<Int64>, isOpen: Bool, query: String) async throws -> HLSPlaylist
    /// The description of the tracks of a playlist's parts.
    func header(_ device: String, _ recording: String) async throws -> MediaBody
    /// A part of a playlist.
    func part(_ device: String, _ recording: String, first: Int, count: Int) async throws -> MediaBody

    func remove(_ device: String, in times: Range<Int64>) async throws -> RecordingRemovalReport
    func kept(_ device: String) async throws -> KeptTimeList
    func keep(_ device: String, in times: Range<Int64>, note: String) async throws -> KeptTime
    func release(_ device: String, _ kept: String) async throws

    /// Compares the disk with its index.
    func check(isThorough: Bool) async throws -> RecordingCheck
}

/// A part of a list of recordings.
package struct RecordedTimeQuery: Sendable, Hashable {
    package static let limits: ClosedRange<Int64> = 1...3_200

    /// ms since 1970.
    package var times: Range<Int64>
    package var newestFirst: Bool
    package var limit: Int
    /// `next` of the page before.
    package var after: String?

    package init(times: Range<Int64>, newestFirst: Bool = false, limit: Int = 500, after: String? = nil) {
        self.times = times
        self.newestFirst = newestFirst
        self.limit = limit
        self.after = after
    }
}
