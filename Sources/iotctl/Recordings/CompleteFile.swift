import CExtendedAttributes
import Foundation

/// Which download a complete file is, so that it is not downloaded again: an extended attribute with the entity tag and
/// the time of the last change. A file without it, one that was changed, and one on a disk without such attributes is
/// downloaded again.
enum CompleteFile {
    private static let attribute = "user.iotvideod.download"

    /// Marks a file that has all its bytes, and makes them durable: a power cut must not leave a file that has only the
    /// right size.
    static func mark(_ path: String, tag: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        fsync(descriptor)
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return }
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
