/// A disk that recordings are on.
package struct DiskRecord: Sendable, Hashable {
    package var id: Int64
    /// From the marker file on the disk, so that another disk in its place is noticed.
    package var uuid: String
    /// Where it is mounted, or a directory on it.
    package var path: String

    package init(id: Int64, uuid: String, path: String) {
        self.id = id
        self.uuid = uuid
        self.path = path
    }
}
