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

/// The recordings of one camera. All calls block: they are made on a thread of the disk, one at a time.
package protocol RecordedSource: AnyObject, Sendable {
    /// - Throws: `invalidRequest` if the times have too many items.
    func list(_ query: RecordedListQuery) throws(IoTError) -> RecordedList

    /// The days with recordings, the first ones first.
    func days(in times: Range<Int64>, by division: DayDivision) throws(IoTError) -> [RecordedDate]

    /// The tracks of the newest recording; `nil` if nothing is recorded. From then on, recordings whose picture has
    /// another codec cannot be read, and sound of another format is left out.
    func tracks() throws(IoTError) -> SegmentTracks?

    /// Opens the file of an item. It is not removed until the result is released, which is done on the disk's thread, too.
    ///
    /// - Parameter item: its id, or its number among the camera's recordings.
    /// - Throws: `downloadNotFound`, or the disk's error.
    func open(_ item: Int64) throws(IoTError) -> OpenRecording

    /// - Throws: if nothing can be read at all, for example because the disk is missing.
    func read(_ want: RecordedWant, keyFramesOnly: Bool) throws(IoTError) -> RecordedReading

    /// - Returns: `nil` if nothing is recorded in the time of `first`.
    /// - Throws: `playbackListEmpty` without a picture for `at`; the disk's error.
    func picture(_ want: RecordedPictureWant, _ bounds: PictureBounds?) throws(IoTError) -> FoundPicture?

    /// What happened at the camera.
    func replay(_ want: ReplayWant) throws(IoTError) -> ReplayPage
}
