/// The text of the file that makes a directory a recording disk.
enum DiskMarker {
    private static let first = "iotvideod recordings 1"

    static func text(uuid: String) -> String {
        """
        \(first)
        disk \(uuid)
        # This file shows iotvideod that its recording disk is mounted. Without it nothing is recorded here.

        """
    }

    /// `nil` for another text.
    static func uuid(in text: String) -> String? {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines[0] == first, lines[1].hasPrefix("disk ") else { return nil }
        let uuid = lines[1].dropFirst(5)
        guard uuid.utf8.count == 32,
            uuid.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
        else { return nil }
        return String(uuid)
    }
}
