package import NIOCore

/// An open file of a disk.
package struct OpenFile: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

package struct DiskSpace: Sendable, Hashable {
    /// What the daemon can still write, in bytes.
    package var free: Int64
    package var total: Int64

    package init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }
}

/// The files of one recording disk. All calls block; only the disk's own thread makes them. Paths are relative to the
/// disk's directory.
///
/// The tests put a disk in its place that logs each call, fails at any of them and forgets what was not synced.
package protocol RecordingFiles: AnyObject, Sendable {
    /// Opens the disk's directory and reads its marker.
    ///
    /// - Returns: The disk's UUID; `nil` if the directory has no marker. Then nothing may be written except by
    ///   `initialise`: it may be the empty directory over which the disk is normally mounted.
    func attach() throws(FileFailure) -> String?

    /// Writes the marker of a new disk.
    func initialise(uuid: String) throws(FileFailure)

    /// Fails if the path no longer leads to the attached directory: the disk was unmounted, or another is mounted over
    /// it.
    func checkAttached() throws(FileFailure)

    /// Closes the disk's directory and all files.
    func detach()

    /// Creates a file, and its directory if needed. A file that exists is emptied.
    func create(_ path: String) throws(FileFailure) -> OpenFile
    func open(_ path: String) throws(FileFailure) -> OpenFile
    func close(_ file: OpenFile)

    /// Writes everything, or fails; after a failure any part may be written.
    func write(_ buffers: [ByteBuffer], to file: OpenFile, at offset: Int64) throws(FileFailure)
    func read(_ file: OpenFile, at offset: Int64, count: Int) throws(FileFailure) -> ByteBuffer
    func sync(_ file: OpenFile) throws(FileFailure)
    /// Begins to write what `sync` will wait for, and does not wait: files of which all have begun are synced sooner, because
    /// the disk chooses the order. It promises nothing.
    func beginSync(_ file: OpenFile)
    func syncDirectory(_ path: String) throws(FileFailure)

    /// Reserves space for a file that is going to grow to `size`. Its size does not change.
    ///
    /// - Returns: Whether the file system can do this.
    func reserve(_ file: OpenFile, size: Int64) throws(FileFailure) -> Bool
    /// Sets the size and returns reserved space beyond it.
    func truncate(_ file: OpenFile, to size: Int64) throws(FileFailure)
    func remove(_ path: String) throws(FileFailure)

    func size(of file: OpenFile) throws(FileFailure) -> Int64
    /// Cuts off what a crash left half-written, if the files show that by themselves.
    ///
    /// - Returns: The size.
    func cutTorn(_ file: OpenFile) throws(FileFailure) -> Int64
    /// The names of the files of a directory; empty if it does not exist. The disk's own directory has the path "".
    func list(_ directory: String) throws(FileFailure) -> [String]
    func space() throws(FileFailure) -> DiskSpace
}

extension RecordingFiles {
    package func cutTorn(_ file: OpenFile) throws(FileFailure) -> Int64 { try size(of: file) }
}
