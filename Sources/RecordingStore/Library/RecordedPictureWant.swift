/// Which picture of the recordings is wanted. Times are µs since 1970.
package enum RecordedPictureWant: Sendable, Hashable {
    /// The key frame at this time, or the last one before it.
    case at(Int64)
    /// The last key frame of the first part of a time in which something is recorded; the parts have this length.
    case first(in: Range<Int64>, every: Int64)
}

/// A picture that was found.
package struct FoundPicture: Sendable {
    /// The part of the time; only of `RecordedPictureWant.first`.
    package var part: Range<Int64>?
    /// `nil` for a part without a picture.
    package var picture: RecordedPicture?

    package init(part: Range<Int64>? = nil, picture: RecordedPicture?) {
        self.part = part
        self.picture = picture
    }
}
