package import GatewayAPI

/// Recordings in the form of the SDK's cloud storage. All times are s since 1970.
package protocol GatewayStorage: Sendable {
    /// - Parameter channel: the number of the device's source; only that of 0 is recorded.
    func detail(_ device: String, channel: Int) async throws -> StorageDetail

    /// - Parameter timezone: s east of UTC.
    func days(_ device: String, timezone: Int64) async throws -> StorageDays

    /// The times with recordings, at most a day from the beginning on.
    func playList(_ device: String, in times: Range<Int64>) async throws -> StoragePlayList

    /// The address of a playlist, of at most an hour from the first recording on.
    ///
    /// - Parameter end: `nil` for the newest recording; then the playlist grows.
    /// - Throws: 21032 if nothing was recorded in this time.
    func address(_ device: String, from start: Int64, to end: Int64?) async throws -> StorageAddress

    /// Events, newest first, with pictures of those that were recorded.
    func events(_ device: String, _ query: StorageEventQuery) async throws -> StorageEvents
}

package struct StorageEventQuery: Sendable, Hashable {
    package static let pageSizes: ClosedRange<Int64> = 1...50

    package var times: Range<Int64>
    package var pageSize: Int
    /// An event satisfies each of them with one of its bits.
    package var masks: [Int64]
    /// Only events of which there are recordings.
    package var onlyWithVideo: Bool

    package init(times: Range<Int64>, pageSize: Int, masks: [Int64], onlyWithVideo: Bool) {
        self.times = times
        self.pageSize = pageSize
        self.masks = masks
        self.onlyWithVideo = onlyWithVideo
    }
}
