package import IoTCore
package import MediaCodec
package import RecordingStore

/// A page of a camera's recordings, as a caller asks for it.
package struct RecordedListQuery: Sendable, Hashable {
    package static let largestPage = 3_200
    package static let usualPage = 1_440

    /// µs since 1970.
    package var times: Range<Int64>
    /// From 0 on.
    package var pageIndex: Int
    package var countPerPage: Int
    /// Only items of this type; `nil` for all.
    package var type: String?
    package var isAscending: Bool

    /// - Throws: `invalidParameter` for a page that there cannot be.
    package init(
        times: Range<Int64>, pageIndex: Int = 0, countPerPage: Int = usualPage, type: String? = nil,
        isAscending: Bool = true
    ) throws(IoTError) {
        guard pageIndex >= 0, (1...Self.largestPage).contains(countPerPage) else {
            throw IoTError(
                .invalidParameter, "pages are numbered from 0 on and have 1 to \(Self.largestPage) items")
        }
        guard type?.utf8.count ?? 1 <= 16 else {
            throw IoTError(.invalidParameter, "a type of recordings has at most 16 characters")
        }
        self.times = times
        self.pageIndex = pageIndex
        self.countPerPage = countPerPage
        self.type = type
        self.isAscending = isAscending
    }
}

package struct RecordedList: Sendable, Hashable {
    package var totalPage: Int
    package var items: [RecordedItem]
}

/// The recordings of one camera. All calls block: they are made on the readers' threads.
package protocol RecordedSource: AnyObject, Sendable {
    /// - Throws: `invalidRequest` if the times have too many items.
    func list(_ query: RecordedListQuery) throws(IoTError) -> RecordedList

    /// The days with recordings, the first ones first.
    func days(in times: Range<Int64>, by division: DayDivision) throws(IoTError) -> [RecordedDate]

    /// The tracks of the newest recording; `nil` if nothing is recorded. From then on, recordings whose picture has
    /// another codec cannot be read, and sound of another format is left out.
    func tracks() throws(IoTError) -> SegmentTracks?

    /// Opens something to read. It is released on the disk's thread, too.
    ///
    /// - Throws: `downloadNotFound`, or the disk's error.
    func open(_ want: RecordedFileWant) throws(IoTError) -> any RecordedFile

    /// - Throws: if nothing can be read at all, for example because the disk is missing.
    func read(_ want: RecordedWant, keyFramesOnly: Bool) throws(IoTError) -> RecordedReading

    /// - Returns: `nil` if nothing is recorded in the time of `first`.
    /// - Throws: `playbackListEmpty` without a picture for `at`; the disk's error.
    func picture(_ want: RecordedPictureWant, _ bounds: PictureBounds?) throws(IoTError) -> FoundPicture?

    /// When the camera was recorded (`RecordingLibrary.times`), and after how many days recordings are removed; 0: only
    /// when space is needed.
    func times(after known: RecordedTimes) throws(IoTError) -> (times: RecordedTimes, days: Int64)

    /// What happened at the camera.
    func replay(_ want: ReplayWant) throws(IoTError) -> ReplayPage
}
