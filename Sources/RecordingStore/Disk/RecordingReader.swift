package import IoTCore
import NIOCore

/// Reads segments of a disk while it records. What is being read is not removed.
package final class RecordingReader: Sendable {
    private let files: any RecordingFiles
    private let index: RecordingIndex
    private let leases: SegmentLeases

    /// - Parameters:
    ///   - files: attached, and other than those of the disk's writer, which closes its files when the disk fails.
    ///   - leases: those of the disk's writer.
    package init(files: any RecordingFiles, index: RecordingIndex, leases: SegmentLeases) {
        self.files = files
        self.index = index
        self.leases = leases
    }

    /// Opens a segment. It stays on the disk until the result is released.
    ///
    /// - Parameter current: a growing segment as it is now, if more is known of it than the index has.
    /// - Throws: `downloadNotFound` if the segment has been removed, `downloadOpenFailed` if its file is missing,
    ///   or `recorderUnavailable` if the disk fails.
    package func open(
        _ id: SegmentID,
        current: (SegmentRecord, FragmentList) -> (record: SegmentRecord, list: FragmentList?) = { ($0, $1) }
    ) throws(IoTError) -> OpenRecording {
        guard leases.take(id) else { throw Self.removed(id) }
        do throws(IoTError) {
            guard let (stored, storedList) = try index.segment(id) else { throw Self.removed(id) }
            let (record, list) = current(stored, storedList)
            let file: OpenFile
            do throws(FileFailure) {
                file = try files.open(id.path)
            } catch {
                if error.isMissing {
                    throw IoTError(
                        .downloadOpenFailed, "the file of the recording \(id) is missing on its disk",
                        remedy: "check the disk's recordings")
                }
                throw error.error(disk: "the recording disk")
            }
            return OpenRecording(
                record: record, list: list ?? storedList, file: file, files: files, leases: leases)
        } catch {
            leases.release(id)
            throw error
        }
    }

    static func removed(_ id: SegmentID) -> IoTError {
        IoTError(.downloadNotFound, "the recording \(id) does not exist, or was removed")
    }
}
