package import IoTCore

/// One of the box's recording disks, for those who read it.
package struct LibraryDisk: Sendable {
    package let disk: RecordingDisk
    package let path: String
    private let makeFiles: @Sendable () -> any RecordingFiles

    /// - Parameters:
    ///   - path: the disk's directory.
    ///   - makeFiles: files of this disk that are not attached. Each reader gets its own, so that a disk that is lost and
    ///     comes back concerns only those who read from it.
    package init(
        disk: RecordingDisk, path: String, makeFiles: @escaping @Sendable () -> any RecordingFiles
    ) {
        self.disk = disk
        self.path = path
        self.makeFiles = makeFiles
    }

    /// - Throws: `recorderUnavailable` if the disk is away or another one.
    func attached(to index: RecordingIndex) throws(IoTError) -> any RecordingFiles {
        let files = makeFiles()
        let uuid: String?
        do { uuid = try files.attach() } catch { throw error.error(disk: path) }
        guard let uuid, try index.disk(uuid: uuid) != nil else {
            throw DiskFailure.wrongDisk("is not the recording disk").error(disk: path)
        }
        return files
    }

    func check(_ index: RecordingIndex, isThorough: Bool) throws(IoTError) -> CheckReport {
        let files = try attached(to: index)
        guard let known = try index.disk(path: path) else {
            throw DiskFailure.wrongDisk("was not used yet").error(disk: path)
        }
        return try DiskCheck(files: files, index: index, scanner: MP4SegmentScanner()).run(
            disk: known.id, isThorough: isThorough)
    }
}
