import CExtendedAttributes
import Foundation

/// Remembers which recording a complete file contains, so that `iotctl` does not download it again.
///
/// The file gets an extended attribute with the recording's entity tag, and the file's size and time of change. Without the
/// attribute, or after a change of the file, the recording is downloaded again. Some file systems have no such attributes.
enum CompleteFile {
    private static let attribute = "user.iotvideod.download"

    /// Marks a file that has all its bytes. They are synced first: after a power cut, a file without its bytes must not have
    /// the mark.
    static func mark(_ path: String, tag: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var facts = stat()
        guard fsync(descriptor) == 0, fstat(descriptor, &facts) == 0 else { return }
        let mark = Array(text(tag, facts).utf8)
        _ = fsetxattr(descriptor, attribute, mark, mark.count, 0)
    }

    static func isMarked(_ path: String, tag: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return false }
        var mark = [UInt8](repeating: 0, count: 1_024)
        let count = getxattr(path, attribute, &mark, mark.count)
        return count > 0 && mark.prefix(count).elementsEqual(text(tag, facts).utf8)
    }

    private static func text(_ tag: String, _ facts: stat) -> String {
        "\(tag) \(facts.st_size) \(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)"
    }
}
