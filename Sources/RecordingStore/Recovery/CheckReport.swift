/// What a check of a disk's recordings found.
package struct CheckReport: Sendable, Hashable {
    package enum Finding: Sendable, Hashable {
        /// The index has the segment, the disk does not have its file.
        case fileMissing(SegmentID)
        /// The file is encrypted with a key that is not there.
        case keyMissing(SegmentID)
        /// The file was damaged or changed; of an encrypted file, where a thorough check reads it.
        case fileDamaged(SegmentID)
        /// A file that the index does not know; without its size if it is encrypted with a key that is not there. It may be removed, or moved away.
        case fileUnknown(path: String, bytes: Int64?)
        /// The file's size is not what the index says.
        case sizeDiffers(SegmentID, index: Int64, file: Int64)
        /// The index's list of fragments cannot be read, or does not fit the segment's size.
        case listDamaged(SegmentID)
        /// The file's fragments are not those of the index; only of a thorough check.
        case fragmentsDiffer(SegmentID, index: Int, file: Int)
        /// The stored sum of a camera's segments is wrong.
        case usageDiffers(CameraNumber, stored: Int64, counted: Int64)
        /// The run of a segment is missing.
        case runMissing(SegmentID)
        /// The disk cannot be read, so nothing of it was compared.
        case diskAway(path: String, reason: String)
        /// The database itself is damaged.
        case database(String)
    }

    /// Findings beyond this number are only counted.
    static let mostFindings = 1_000

    package internal(set) var segments = 0
    package internal(set) var bytes: Int64 = 0
    /// Files that are still to be removed: no damage.
    package internal(set) var garbage = 0
    package internal(set) var findings: [Finding] = []
    package internal(set) var findingCount = 0

    package var isSound: Bool { findingCount == 0 }

    mutating func add(_ other: CheckReport) {
        segments += other.segments
        bytes += other.bytes
        garbage += other.garbage
        findings += other.findings.prefix(Self.mostFindings - findings.count)
        findingCount += other.findingCount
    }

    mutating func add(_ finding: Finding) {
        findingCount += 1
        if findings.count < Self.mostFindings { findings.append(finding) }
    }
}
